from django.apps import AppConfig


class ProjectConfig(AppConfig):
    """The project itself: start-up checks, the Celery app, commands that run the whole thing."""

    name = "annotator"
    label = "annotator"

    def ready(self) -> None:
        from annotator import (
            celery,  # noqa: F401 - makes it the current Celery app
            checks,  # noqa: F401 - registers the checks
        )
