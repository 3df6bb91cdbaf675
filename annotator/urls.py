"""Table of contents of the site."""

from django.contrib import admin
from django.urls import include, path

handler400 = "annotator.middleware.bad_request"
urlpatterns = [
    path("", include("annotator.grading.urls")),
    path("results/", include("annotator.results.urls")),
    path("api/", include("annotator.api.urls")),
    path("admin/", admin.site.urls),
]
