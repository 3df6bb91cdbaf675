"""The Celery application: `celery -A annotator.celery worker`."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.settings")
app = Celery("codejury")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["annotator.results"])
