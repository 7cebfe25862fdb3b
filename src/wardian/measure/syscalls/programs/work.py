"""The ordinary work of Python: files, children, threads, sockets, an event loop."""

import asyncio
import glob
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

with tempfile.TemporaryDirectory() as place:
    path = os.path.join(place, "data.json")
    with open(path, "w") as file:
        json.dump({"a": [1, 2]}, file)
    os.rename(path, path + ".old")
    shutil.copy(path + ".old", path)
    os.chmod(path, 0o600)
    os.makedirs(os.path.join(place, "a/b"))
    glob.glob(os.path.join(place, "**"), recursive=True)
    with sqlite3.connect(os.path.join(place, "rows.db")) as rows:
        rows.execute("create table t (n)")
    rows.close()

subprocess.run(["sort"], input=b"b\na\n", stdout=subprocess.PIPE, check=True)
subprocess.run([sys.executable, "-c", "pass"], check=True)
threads = [threading.Thread(target=time.sleep, args=(0.001,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
signal.signal(signal.SIGUSR1, lambda *_: None)
os.kill(os.getpid(), signal.SIGUSR1)
random.random()  # noqa: S311


async def talk() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"hello\n")
    await reader.readline()
    writer.close()
    server.close()


asyncio.run(talk())
left, right = socket.socketpair()
left.sendall(b"x")
right.recv(1)
left.close()
right.close()
