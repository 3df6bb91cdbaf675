from django.urls import path, re_path

from annotator.api import views

app_name = "api"
urlpatterns = [
    path("", views.Index.as_view(), name="index"),
    path("studies/", views.Studies.as_view(), name="studies"),
    path("studies/<slug:slug>/", views.OneStudy.as_view(), name="study"),
    path("studies/<slug:slug>/grades.csv", views.Table.as_view(), {"name": "grades"}, name="grades"),
    path("studies/<slug:slug>/scores.csv", views.Table.as_view(), {"name": "scores"}, name="scores"),
    path("studies/<slug:slug>/jobs/", views.Jobs.as_view(), name="jobs"),
    path("studies/<slug:slug>/jobs/<int:pk>/", views.OneJob.as_view(), name="job"),
    re_path(r"", views.Nothing.as_view(), name="nothing"),
]
