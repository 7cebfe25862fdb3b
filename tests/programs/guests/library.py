"""The parts of the standard library that lean on the system."""

import ctypes
import getpass
import hashlib
import http.server
import locale
import os
import pathlib
import shutil
import socket
import sqlite3
import ssl
import subprocess
import tarfile
import tempfile
import threading
import time
import urllib.request
import uuid
import zipfile
import zlib

print("ssl", ssl.create_default_context().verify_mode.name, len(ssl.RAND_bytes(16)))
print("zlib", zlib.decompress(zlib.compress(b"x" * 1000)) == b"x" * 1000)
print("sha", hashlib.sha256(b"wardian").hexdigest()[:16], len(uuid.uuid4().hex))
with tempfile.TemporaryDirectory() as place:
    for mode in ("DELETE", "WAL"):
        with sqlite3.connect(f"{place}/{mode}.db") as db:
            print("sqlite", db.execute(f"pragma journal_mode={mode}").fetchone())
            db.execute("create table t (n int)")
            db.executemany("insert into t values (?)", [(n,) for n in range(1000)])
            db.commit()
            print("sqlite", db.execute("select sum(n) from t").fetchone())
    pathlib.Path(place, "a.txt").write_text("hello")
    with tarfile.open(f"{place}/a.tar.gz", "w:gz") as tar:
        tar.add(f"{place}/a.txt", "a.txt")
    with zipfile.ZipFile(f"{place}/a.zip", "w") as archive:
        archive.write(f"{place}/a.txt", "a.txt")
    shutil.unpack_archive(f"{place}/a.tar.gz", f"{place}/tar")
    shutil.unpack_archive(f"{place}/a.zip", f"{place}/zip")
    shutil.copytree(f"{place}/tar", f"{place}/copy")
    print("archives", sorted(p.name for p in pathlib.Path(place).rglob("a.txt")))
    os.chmod(f"{place}/a.txt", 0o600)
    os.utime(f"{place}/a.txt", (1, 2))
    os.link(f"{place}/a.txt", f"{place}/b.txt")
    os.symlink("a.txt", f"{place}/c.txt")
    info = os.stat(f"{place}/c.txt")
    print("stat", oct(info.st_mode), info.st_mtime, info.st_nlink)
libc = ctypes.CDLL(None)
print("ctypes", libc.abs(-5), ctypes.string_at(ctypes.c_char_p(b"abc")))
callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int)
)
numbers = (ctypes.c_int * 5)(5, 1, 4, 2, 3)
libc.qsort(numbers, 5, 4, callback(lambda a, b: a[0] - b[0]))
print("callback", list(numbers))
print("user", bool(getpass.getuser()), os.path.isabs(os.path.expanduser("~")))
print("locale", bool(locale.setlocale(locale.LC_ALL, "C.UTF-8")), "ü".encode())
print("names", socket.gethostbyname("localhost"), socket.getservbyname("http"))


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"page " + self.path.encode())

    def log_message(self, *_: object) -> None:
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
print("http", opener.open(f"http://127.0.0.1:{server.server_port}/x", timeout=10).read())
server.shutdown()
done = subprocess.run(["sort", "-r"], input=b"a\nb\n", capture_output=True, check=True)
print("subprocess", done.stdout)
try:
    subprocess.run(["sleep", "100"], timeout=0.1, check=False)
except subprocess.TimeoutExpired:
    print("subprocess timed out")
print("clock", time.clock_gettime(time.CLOCK_BOOTTIME) > 0, time.process_time() > 0)
