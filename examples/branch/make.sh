#!/bin/sh
# Makes a small git repository to try `bourdon compare` on: a server in Python, and a branch `feature` on which
# somebody has added a look into the stock to every reply.
#
#     sh make.sh FOLDER
set -eu
folder=${1:?name a folder that does not exist yet}
mkdir "$folder"
cd "$folder"
git init --quiet
git symbolic-ref HEAD refs/heads/main
cat > server.py <<'PYTHON'
"""What is in stock, on $PORT."""
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STOCK = {f"item {number}": number % 7 for number in range(200)}


def reply():
    return json.dumps({"in stock": STOCK["item 3"]}).encode()


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = reply()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer.request_queue_size = 128
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Shop).serve_forever()
PYTHON
commit() { git -c user.name=shop -c user.email=shop@example.org commit --quiet --all --message "$1"; }
git add server.py
commit "What is in stock"
git checkout --quiet -b feature
sed 's/    return json.dumps.*/    low = sorted(name for name, count in STOCK.items() if count < 2)\
    return json.dumps({"in stock": STOCK["item 3"], "low": len(low)}).encode()/' server.py > changed.py
mv changed.py server.py
commit "Say how much is running low"
