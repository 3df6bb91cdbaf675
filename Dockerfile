# One image for the web server, the workers and the commands; docker-compose.yml says which runs what.
FROM python:3.11.14-slim-bookworm

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1

# Fixed numbers, so that the owner of the volumes is known outside too.
RUN groupadd --system --gid 10001 codejury \
    && useradd --system --uid 10001 --gid codejury --home-dir /app --no-create-home codejury

WORKDIR /app
COPY requirements.txt constraints.txt ./
RUN pip install --requirement requirements.txt --constraint constraints.txt

COPY manage.py pyproject.toml LICENSE ./
COPY annotator annotator
COPY metrics metrics
COPY analysis analysis
COPY templates templates
COPY static static
COPY locale locale

# Static files are part of the image. What the app writes goes to /data; the key that collecting them needs is
# made in a folder that is gone in the next line.
RUN STATIC_ROOT=/app/staticfiles VAR_DIR=/tmp/build python manage.py collectstatic --noinput --verbosity 0 \
    && rm -rf /tmp/build \
    && install -d -o codejury -g codejury /data /data/media

ENV VAR_DIR=/data \
    MEDIA_ROOT=/data/media \
    STATIC_ROOT=/app/staticfiles \
    HOME=/tmp
USER 10001:10001
VOLUME /data
EXPOSE 8000

HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=4 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]

# --no-control-socket and /dev/shm: gunicorn writes nothing to the disk of the container.
CMD ["gunicorn", "annotator.wsgi", "--bind", "0.0.0.0:8000", "--workers", "2", "--threads", "4", \
     "--worker-class", "gthread", "--worker-tmp-dir", "/dev/shm", "--graceful-timeout", "10", \
     "--timeout", "60", "--no-control-socket", "--access-logfile", "-"]
