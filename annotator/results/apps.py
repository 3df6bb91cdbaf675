from django.apps import AppConfig


class ResultsConfig(AppConfig):
    name = "annotator.results"
    verbose_name = "Results"
