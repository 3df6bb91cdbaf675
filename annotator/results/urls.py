from django.urls import path

from annotator.results import people_views, views

app_name = "results"
urlpatterns = [
    path("", views.index, name="index"),
    path("<slug:slug>/", views.study, name="study"),
    path("<slug:slug>/grades.csv", views.table, {"name": "grades"}, name="grades"),
    path("<slug:slug>/scores.csv", views.table, {"name": "scores"}, name="scores"),
    path("<slug:slug>/answers.csv", views.table, {"name": "answers"}, name="answers"),
    path("<slug:slug>/annotators/", people_views.annotators, name="annotators"),
    path("<slug:slug>/annotators/exclude/", people_views.exclude, name="exclude"),
    path("<slug:slug>/annotators/<int:pk>/undo/", people_views.undo_exclusion, name="undo_exclusion"),
    path("<slug:slug>/jobs.json", views.jobs_json, name="jobs_json"),
    path("<slug:slug>/jobs/", views.start_job, name="start_job"),
    path("<slug:slug>/jobs/<int:pk>/cancel/", views.cancel_job, name="cancel_job"),
    path("<slug:slug>/reports/<int:pk>/", views.report, name="report"),
    path("<slug:slug>/reports/<int:pk>/all.zip", views.report_zip, name="report_zip"),
    path("<slug:slug>/reports/<int:pk>/<path:name>", views.report_file, name="report_file"),
]
