"""A small HTTP/1.1 client on a plain socket: kept connection, cookies, no redirects followed.

It costs the machine that it shares with the server a fraction of what `http.client` costs, so that less of what is
measured is the client.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlencode, urlsplit

TIMEOUT_SECONDS = 120
ABSOLUTE = re.compile(r"https?://[^/]+")


class HttpError(ValueError):
    """The server answered with something that the survey does not expect."""


@dataclass(frozen=True)
class Response:
    """An answer; header names are in lower case."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def location(self) -> str:
        """The path that a redirect leads to."""
        return ABSOLUTE.sub("", dict(self.headers).get("location", ""), count=1)


class Transport(Protocol):
    """How requests reach a server: over a socket, or straight into its WSGI application."""

    def send(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> Response: ...  # pragma: no cover


class Socket:
    """A kept connection to 127.0.0.1:`port`, opened again when the server let it go."""

    def __init__(self, port: int) -> None:
        self.port, self.host = port, f"127.0.0.1:{port}"
        self.socket: socket.socket | None = None
        self.left = b""

    def send(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Response:
        lines = [
            f"{method} {path} HTTP/1.1",
            f"Host: {self.host}",
            *(f"{k}: {v}" for k, v in headers.items()),
        ]
        if body or method == "POST":
            lines.append(f"Content-Length: {len(body)}")
        message = "\r\n".join([*lines, "", ""]).encode("latin-1") + body
        if self.socket is not None:
            try:
                return self.exchange(method, message)
            except ConnectionError:  # closed while it was idle: nothing of the request was read
                self.close()
        return self.exchange(method, message)

    def exchange(self, method: str, message: bytes) -> Response:
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port), TIMEOUT_SECONDS)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.left = b""
        self.socket.sendall(message)
        status_line, *lines = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        version, status = status_line.split(" ", 2)[:2]
        pairs = (line.partition(":") for line in lines)
        headers = [(name.strip().lower(), value.strip()) for name, _, value in pairs]
        known = dict(headers)
        if method == "HEAD" or status in ("204", "304"):
            body = b""
        elif "chunked" in known.get("transfer-encoding", ""):
            body = self.chunks()
        elif "content-length" in known:
            body = self.exactly(int(known["content-length"]))
        else:
            body = self.rest()
        if known.get("connection", "").lower() == "close" or (
            version == "HTTP/1.0" and known.get("connection", "").lower() != "keep-alive"
        ):
            self.close()
        return Response(int(status), headers, body)

    def more(self) -> bytes:
        assert self.socket is not None
        data = self.socket.recv(262_144)
        if not data:
            raise ConnectionResetError("The server closed the connection.")
        return data

    def until(self, mark: bytes) -> bytes:
        while mark not in self.left:
            self.left += self.more()
        found, _, self.left = self.left.partition(mark)
        return found

    def exactly(self, length: int) -> bytes:
        while len(self.left) < length:
            self.left += self.more()
        found, self.left = self.left[:length], self.left[length:]
        return found

    def chunks(self) -> bytes:
        parts = []
        while size := int(self.until(b"\r\n").split(b";")[0], 16):
            parts.append(self.exactly(size))
            self.exactly(2)
        self.until(b"\r\n")
        return b"".join(parts)

    def rest(self) -> bytes:
        try:
            while True:
                self.left += self.more()
        except ConnectionResetError:
            return self.left

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
            self.socket = None


class Browser:
    """Cookies and headers of one person, over any transport."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.cookies: dict[str, str] = {}
        self.headers = {"Accept": "text/html,application/json", "User-Agent": "survey-benchmark"}

    def send(self, method: str, path: str, body: bytes = b"", kind: str = "") -> Response:
        headers = dict(self.headers)
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if kind:
            headers["Content-Type"] = kind
        response = self.transport.send(method, path, headers, body)
        for name, value in response.headers:
            if name == "set-cookie":
                key, _, text = value.partition(";")[0].partition("=")
                self.cookies[key] = text
        return response

    def get(self, path: str) -> Response:
        return self.send("GET", path)

    def post(self, path: str, fields: dict[str, str]) -> Response:
        kind = "application/x-www-form-urlencoded"
        return self.send("POST", path, urlencode(fields).encode(), kind)

    def follow(self, response: Response, path: str) -> tuple[Response, str]:
        """Where the redirects of an answer to `path` lead, and that page's path."""
        for _ in range(10):
            if response.status not in (301, 302, 303, 307, 308):
                return response, path
            path = response.location if response.location.startswith("/") else urlsplit(path).path
            response = self.get(path)
        raise HttpError(f"{path} redirects without end.")
