from django.apps import AppConfig


class StudiesConfig(AppConfig):
    name = "annotator.studies"
    verbose_name = "Studies"
