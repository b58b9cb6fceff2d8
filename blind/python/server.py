"""A server with one fault, or none, for `make diagnose-live`: the environment says which, and how large it is."""

import asyncio
import os
import socket
import sys
import threading
import time


def setting(name, usual):
    return int(os.environ.get(name, usual))


FAULTS = os.environ.get("FAULTS", "").split(",")
WORKERS = setting("WORKERS", 1)
DELAY_S = setting("DELAY_US", 0) / 1e6
HEAVY_S = setting("HEAVY_MS", 0) / 1e3
BYTES = setting("BYTES", 0)
EVERY = setting("EVERY", 1)
CACHE_BYTES = setting("CACHE_BYTES", 1 << 20)
TRIPS = setting("TRIPS", 1)
SLOW_S = setting("SLOW_MS", 30) / 1e3
BODY = b"ok" * (1 + setting("BODY", 0) // 2)

kept, files, idle = [], [], []
requests = 0
slots = None
paths = {}


def compute(seconds):
    until = time.perf_counter() + seconds
    x = 1
    while time.perf_counter() < until:
        for _ in range(100):
            x = x * 48271 % 2147483647
    return x


def keep(count):
    if count % EVERY:
        return
    if "memory" in FAULTS or ("cache" in FAULTS and len(kept) * BYTES < CACHE_BYTES):
        kept.append(b"\1" * BYTES)
    if "files" in FAULTS:
        files.append(open(os.devnull, "rb"))
    if "threads" in FAULTS:
        threading.Thread(target=threading.Event().wait, daemon=True).start()


async def work(path, count):
    if path == "/heavy":
        compute(HEAVY_S)
        return
    if "sometimes-slow" in FAULTS and count % EVERY == 0:
        await asyncio.sleep(SLOW_S)
    if "slower" in FAULTS:
        await asyncio.sleep(count / 1e6)
    if "garbage" in FAULTS:
        bytes(BYTES)
    if "upstream" in FAULTS:
        for _ in range(TRIPS):
            await ask()
    if DELAY_S:
        await asyncio.sleep(DELAY_S)


async def ask():
    """One round trip to what is behind the server, over a connection that is kept."""
    host, port = os.environ["UPSTREAM"].rsplit(":", 1)
    reader, writer = idle.pop() if idle else await asyncio.open_connection(host, int(port))
    writer.write(b"GET / HTTP/1.1\r\nHost: upstream\r\n\r\n")
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    await reader.readexactly(int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0]))
    idle.append((reader, writer))


async def answer(path, count):
    if "limit" in FAULTS:
        async with slots:
            await work(path, count)
    elif "path-lock" in FAULTS:
        async with paths.setdefault(path, asyncio.Lock()):
            await work(path, count)
    else:
        await work(path, count)


async def serve(reader, writer):
    if "held" in FAULTS:
        async with slots:
            await converse(reader, writer)
    else:
        await converse(reader, writer)


async def converse(reader, writer):
    global requests
    connection = writer.get_extra_info("socket")
    if "split" in FAULTS:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode()
            last = b"connection: close" in head.lower() or "close" in FAULTS
            requests += 1
            count = requests
            if "die" in FAULTS and count >= EVERY:
                print("fatal: no luck left", file=sys.stderr, flush=True)
                os._exit(3)
            fails = "errors" in FAULTS and count % EVERY == 0
            await answer(path, count)
            keep(count)
            status = b"500 Internal Server Error" if fails else b"200 OK"
            end = b"Connection: close\r\n" if last else b""
            head = b"HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n" % (status, len(BODY), end)
            if "split" in FAULTS:
                writer.write(head + BODY[:1])
                await asyncio.sleep(0)
                writer.write(BODY[1:])
            else:
                writer.write(head + BODY)
            await writer.drain()
            if last:
                break
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def stall():
    while True:
        await asyncio.sleep(setting("STALL_EVERY_MS", 3000) / 1e3)
        time.sleep(setting("STALL_MS", 700) / 1e3)


async def burn():
    while True:
        compute(0.003)
        await asyncio.sleep(0.007)


async def main():
    global slots
    slots = asyncio.Semaphore(WORKERS)
    beside = [task() for name, task in (("stall", stall), ("burn", burn)) if name in FAULTS]
    server = await asyncio.start_server(serve, "127.0.0.1", int(os.environ["PORT"]), backlog=4096)
    await asyncio.gather(server.serve_forever(), *beside)


asyncio.run(main())
