"""Requests straight into the WSGI application: no sockets, no client in the CPU that is measured."""

from __future__ import annotations

import io
import time
from typing import Any

from benchmarks._survey.browser import Response


class Inside:
    """A transport into the application of this process; `cpu` is what its last answer cost, in seconds."""

    def __init__(self) -> None:
        from annotator.wsgi import application

        self.application, self.cpu = application, 0.0

    def send(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Response:
        path, _, query = path.partition("?")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": io.StringIO(),
            "wsgi.multithread": False,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        for name, value in {"Host": "localhost", **headers}.items():
            key = name.upper().replace("-", "_")
            environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
        told: list[Any] = []
        start = time.process_time()
        answer = self.application(environ, lambda status, pairs, *rest: told.extend((status, pairs)))
        data = b"".join(answer)
        getattr(answer, "close", lambda: None)()
        self.cpu = time.process_time() - start
        pairs = [(name.lower(), value) for name, value in told[1]]
        return Response(int(told[0].split()[0]), pairs, data)
