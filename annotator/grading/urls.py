from django.urls import path, re_path

from annotator.grading import views

urlpatterns = [
    path("", views.home, name="home"),
    path("healthz", views.health, name="health"),
    path("join/<slug:slug>/", views.join, name="join"),
    path("a/<slug:token>/", views.annotator, name="annotator"),
    path("a/<slug:token>/pause/", views.pause, name="pause"),
    path("a/<slug:token>/instructions/", views.instructions, name="instructions"),
    re_path(
        r"^image/(?P<name>[0-9a-f]{64}\.(?:png|jpg|gif|webp))$",
        views.image,
        name="image",
    ),
]
