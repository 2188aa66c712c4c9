"""`/metrics` on the loopback address while a run goes on; nothing outside of this machine can reach it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from rocm_ci.runner.errors import InfraError
from rocm_ci.vram_probe.output.prometheus import CONTENT_TYPE


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    text: Callable[[], str]


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 10

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(404)
            return
        data = self.server.text().encode()
        self.send_response(200)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        del format, args


class Metrics:
    """Context manager that serves `text()`.

    Args:
        port: where, on 127.0.0.1; 0 takes a free one.
        text: makes the answer.

    Raises:
        InfraError: the port cannot be had.
    """

    def __init__(self, port: int, text: Callable[[], str]) -> None:
        try:
            self._server = _Server(("127.0.0.1", port), _Handler)
        except OSError as error:
            raise InfraError(
                f"metrics cannot be served on 127.0.0.1:{port}: {(error.strerror or str(error)).lower()}",
                help="name another port with `metrics-port`",
            ) from error
        self._server.text = text
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, name="rocm-ci-metrics", daemon=True)

    def __enter__(self) -> Metrics:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)
