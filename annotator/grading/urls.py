from django.urls import path, re_path

from annotator.grading import views

urlpatterns = [
    path("", views.home, name="home"),
    path("healthz", views.health, name="health"),
    path("join/<slug:slug>/", views.join, name="join"),
    path("a/<slug:token>/", views.annotator, name="annotator"),
    path("a/<slug:token>/pause/", views.pause, name="pause"),
    path("a/<slug:token>/instructions/", views.instructions, name="instructions"),
    path("a/<slug:token>/practice/<int:number>/", views.practice, name="practice"),
    path("a/<slug:token>/change/", views.change, name="change"),
    re_path(
        r"^a/(?P<token>[-\w]+)/image/(?P<name>[0-9a-f]{16}\.(?:png|jpg|gif|webp))$",
        views.image,
        name="image",
    ),
]
