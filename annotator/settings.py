"""All settings, from the environment, refusing bad values. `docs/deployment.md` explains each."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent


def env_bool(name: str, default: bool) -> bool:
    value = os.environ.get(name, "").strip().lower()
    if value in ("", "default"):
        return default
    if value in ("1", "true", "yes", "on"):
        return True
    if value in ("0", "false", "no", "off"):
        return False
    raise ImproperlyConfigured(f"{name} must be true or false, not {value!r}.")


def env_int(name: str, default: int, low: int, high: int) -> int:
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    if not value.isdecimal() or len(value) > 20 or not low <= int(value) <= high:
        raise ImproperlyConfigured(f"{name} must be a whole number from {low} to {high}, not {value[:20]!r}.")
    return int(value)


def env_list(name: str, default: list[str]) -> list[str]:
    value = os.environ.get(name, "")
    return [part.strip() for part in value.split(",") if part.strip()] or default


def env_folder(name: str, default: Path) -> Path:
    try:
        folder = Path(os.environ.get(name, "").strip() or default).expanduser()
    except RuntimeError:
        raise ImproperlyConfigured(f"{name} begins with the home of a user who is not known.") from None
    return folder if folder.is_absolute() else BASE_DIR / folder


def make_folder(name: str, folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"Cannot make the folder {folder}: {error.strerror}. Set {name} to a folder of yours."
        ) from None
    return folder


def env_log_level() -> str:
    level = os.environ.get("LOG_LEVEL", "").strip().upper() or "INFO"
    known = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
    if level not in known:
        raise ImproperlyConfigured(f"LOG_LEVEL must be one of {', '.join(known)}, not {level!r}.")
    return level


VAR_DIR = env_folder("VAR_DIR", BASE_DIR / "var")
os.environ.setdefault("MPLCONFIGDIR", str(VAR_DIR / "matplotlib"))  # else it wants a HOME to write to
DEBUG = env_bool("DEBUG", False)
PORT = env_int("PORT", 8000, 1, 65535)
HOST = os.environ.get("HOST", "").strip() or "127.0.0.1"


def read_database() -> dict[str, Any]:
    """The `default` database. On SQLite what was answered is on disk (WAL, synchronous FULL)."""
    url = os.environ.get("DATABASE_URL", "").strip() or f"sqlite:///{VAR_DIR / 'codejury.sqlite3'}"
    try:
        config: dict[str, Any] = dict(dj_database_url.parse(url, conn_max_age=60))
    except (ValueError, KeyError) as error:
        raise ImproperlyConfigured(f"DATABASE_URL is not a database address: {error}") from error
    if config["ENGINE"] == "django.db.backends.sqlite3":
        make_folder("VAR_DIR or DATABASE_URL", Path(str(config["NAME"])).parent)
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-20000;",
        }
    elif config["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured("DATABASE_URL must begin with sqlite:// or postgres://.")
    else:
        config["CONN_HEALTH_CHECKS"] = True
    return config


def reader_of(config: dict[str, Any]) -> dict[str, Any]:
    """A second connection for long reads: DEFERRED on SQLite, so that an export never blocks a grade."""
    reader = dict(config) | {"TEST": {"MIRROR": "default"}, "CONN_MAX_AGE": 0}
    if config["ENGINE"] == "django.db.backends.sqlite3":
        reader["OPTIONS"] = dict(config["OPTIONS"]) | {"transaction_mode": "DEFERRED"}
    return reader


DATABASES = {"default": read_database()}
DATABASES["reader"] = reader_of(DATABASES["default"])
USES_SQLITE = DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"


def read_secret_key() -> str:
    """SECRET_KEY, or with SQLite (one machine) a random one made once in VAR_DIR."""
    key = os.environ.get("SECRET_KEY", "")
    if key:
        if len(key) < 32:
            raise ImproperlyConfigured(
                "SECRET_KEY must have at least 32 characters. Make one: openssl rand -hex 32"
            )
        return key
    if not USES_SQLITE:
        raise ImproperlyConfigured("Set SECRET_KEY (at least 32 characters). Make one: openssl rand -hex 32")
    path = make_folder("VAR_DIR", VAR_DIR) / "secret-key"
    if path.exists():
        return path.read_text().strip()
    try:
        with tempfile.NamedTemporaryFile("w", dir=VAR_DIR, prefix=".secret-key.") as file:
            file.write(secrets.token_urlsafe(48))
            file.flush()
            with contextlib.suppress(FileExistsError):  # another process was first
                os.link(file.name, path)
    except OSError as error:
        raise ImproperlyConfigured(
            f"Cannot write {path}: {error.strerror}. Set VAR_DIR to a folder of yours."
        ) from error
    return path.read_text().strip()


SECRET_KEY = read_secret_key()
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS", [])
HTTPS = env_bool("HTTPS", False)
"""True behind a proxy that ends TLS and sets X-Forwarded-Proto."""

INSTALLED_APPS = [
    "annotator",
    "annotator.studies",
    "annotator.grading",
    "annotator.results",
    "annotator.api",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "rest_framework.authtoken",
]
MIDDLEWARE = [
    "annotator.connections.QuietConnection",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "annotator.middleware.SecurityHeaders",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "annotator.middleware.ErrorAnswers",
]
ROOT_URLCONF = "annotator.urls"
WSGI_APPLICATION = "annotator.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "results:index"
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LANGUAGE_CODE = "en"
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = env_folder("STATIC_ROOT", VAR_DIR / "static")
make_folder("STATIC_ROOT", STATIC_ROOT)
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
MEDIA_ROOT = env_folder("MEDIA_ROOT", VAR_DIR / "media")
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_REFERRER_POLICY = "same-origin"
"""A personal link is a key: it never leaves in a Referer header."""
X_FRAME_OPTIONS = "DENY"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "EXCEPTION_HANDLER": "annotator.api.views.answer_error",
}


def read_broker() -> tuple[str, dict[str, Any]]:
    """Where Celery's wake-up calls travel: a folder, Redis or RabbitMQ. The Job rows are the truth."""
    url = os.environ.get("BROKER_URL", "").strip() or f"filesystem://{VAR_DIR / 'broker'}"
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise ImproperlyConfigured(f"BROKER_URL is not an address: {error}.") from None
    if parts.scheme == "filesystem":
        folder = Path(parts.path)
        if not folder.is_absolute():
            raise ImproperlyConfigured("BROKER_URL must be like filesystem:///absolute/folder.")
        for name in ("queue", "control"):
            make_folder("BROKER_URL", folder / name)
        queue = str(folder / "queue")
        return "filesystem://", {
            "data_folder_in": queue,
            "data_folder_out": queue,
            "control_folder": str(folder / "control"),
            "polling_interval": 0.5,
        }
    if parts.scheme in ("redis", "rediss", "unix", "amqp", "amqps", "memory"):
        return url, {"visibility_timeout": 3600} if parts.scheme.startswith("redis") else {}
    raise ImproperlyConfigured("BROKER_URL must begin with filesystem://, redis:// or amqp://.")


CELERY_BROKER_URL, CELERY_BROKER_TRANSPORT_OPTIONS = read_broker()
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_SERIALIZER = "json"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CONCURRENCY = env_int("WORKER_CONCURRENCY", min(os.cpu_count() or 1, 4), 1, 256)
JOB_LEASE_SECONDS = env_int("JOB_LEASE_SECONDS", 30, 2, 86_400)
"""A part of a job whose worker gave no sign of life for this long is done anew."""
JOINS_PER_MINUTE = env_int("JOINS_PER_MINUTE", 300, 1, 1_000_000)
"""How many people may start a study from one address in a minute."""
JOB_SWEEP_SECONDS = env_int("JOB_SWEEP_SECONDS", 10, 1, 3600)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {
        "handlers": ["stderr"],
        "level": env_log_level(),
    },
    "loggers": {
        "django.request": {"level": "ERROR"},
        "django.security": {"level": "CRITICAL"},  # a wrong Host or a huge form is the sender's fault
        "kombu": {"level": "ERROR"},
        "matplotlib": {"level": "WARNING"},
    },
}

TESTING = "pytest" in sys.modules
if TESTING:
    PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
