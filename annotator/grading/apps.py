from django.apps import AppConfig


class GradingConfig(AppConfig):
    name = "annotator.grading"
    verbose_name = "Grading"
