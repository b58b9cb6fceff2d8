"""A small server: `Hello from my server` on $PORT, after $HANDLER_DELAY; with TUNED=1 in its tuned form."""

import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = b"Hello from my server\n"
HEAD = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(BODY)}\r\n\r\n"
REPLY = HEAD.encode() + BODY


def seconds(duration):
    """`10ms` or `1s`, as bourdon writes durations."""
    number, unit = (duration[:-2], 1e-3) if duration.endswith("ms") else (duration[:-1], 1)
    return float(number) * unit


DELAY = seconds(os.environ.get("HANDLER_DELAY") or "0ms")


class AsItComes(BaseHTTPRequestHandler):
    """HTTP/1.0: a connection and a thread for every request."""

    def do_GET(self):
        work()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


class Tuned(AsItComes):
    """HTTP/1.1: connections are kept, and head and body leave in one piece that was made before."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        work()
        self.wfile.write(REPLY)


class Server(ThreadingHTTPServer):
    request_queue_size = 128  # the default of 5 makes clients wait a second for a connection


def work():
    if DELAY:
        time.sleep(DELAY)


if __name__ == "__main__":
    handler = Tuned if os.environ.get("TUNED") else AsItComes
    Server(("127.0.0.1", int(os.environ["PORT"])), handler).serve_forever()
