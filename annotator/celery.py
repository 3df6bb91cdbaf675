"""The Celery application: `celery -A annotator.celery worker`."""

from __future__ import annotations

import os
import warnings

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.settings")
# Messages are JSON, not pickles: running as root, as containers do, is no door for an attacker.
warnings.filterwarnings("ignore", message=r"(?s).*superuser privileges")
app = Celery("codejury")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["annotator.results"])
