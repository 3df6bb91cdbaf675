from django.apps import AppConfig


class APIConfig(AppConfig):
    name = "annotator.api"
    verbose_name = "API"
