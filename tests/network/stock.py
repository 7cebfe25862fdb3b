"""What the servers of the small internet have: package indexes, a repository, programs."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.network.internet import REACHED

if TYPE_CHECKING:
    from tests.network.conftest import Internet

JAVA = (
    "import java.net.*;public class F{public static void main(String[] a)throws Exception{"
    "System.out.println(new String(new URL(a[0]).openStream().readAllBytes()));}}"
)
STATIC = r"""
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM}, *found;
    char text[4096];
    if (argc < 2 || getaddrinfo(argv[1], "80", &wanted, &found)) return 2;
    int fd = socket(found->ai_family, SOCK_STREAM, 0);
    if (connect(fd, found->ai_addr, found->ai_addrlen)) return 3;
    int n = snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
                     argv[1]);
    if (write(fd, text, n) != n) return 4;
    while ((n = read(fd, text, sizeof text)) > 0) fwrite(text, 1, n, stdout);
    return 0;
}
"""


def stock(internet: Internet) -> None:
    """Servers' files: an index of Python packages, one of npm's, and a repository of git's."""
    files = internet.directory / "files"
    wheel = make_wheel(files / "simple" / "tiny")
    (files / "simple" / "tiny" / "index.html").write_text(
        f"<!DOCTYPE html><a href='{wheel.name}'>{wheel.name}</a>"
    )
    (files / "luring" / "tiny").mkdir(parents=True)
    (files / "luring" / "tiny" / "index.html").write_text(
        "<!DOCTYPE html>"
        f"<a href='https://other.example.org/files/simple/tiny/{wheel.name}'>{wheel.name}</a>"
    )
    (files / "npm").mkdir(parents=True)
    npm = {
        "name": "tiny",
        "dist-tags": {"latest": "1.0.0"},
        "versions": {
            "1.0.0": {"name": "tiny", "version": "1.0.0", "description": REACHED, "dist": {}}
        },
    }
    (files / "npm" / "tiny").write_text(json.dumps(npm))
    (internet.directory / "F.java").write_text(JAVA)
    (internet.directory / "static.c").write_text(STATIC)
    uv = Path(sys.executable).with_name("uv")
    if uv.exists():
        shutil.copy(uv.resolve(), internet.directory / "uv")
    if shutil.which("gcc"):
        build = ["gcc", "-static", "-w", "-o", "static", "static.c"]
        subprocess.run(build, cwd=internet.directory, check=False, capture_output=True)
    if shutil.which("git"):
        repository(files / "repo.git")


def make_wheel(directory: Path) -> Path:
    directory.mkdir(parents=True)
    path = directory / "tiny-1.0-py3-none-any.whl"
    contents = {
        "tiny.py": f"WHAT = {REACHED!r}\n",
        "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        "tiny-1.0.dist-info/WHEEL": (
            "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        ),
    }
    lines = []
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in contents.items():
            archive.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
            lines.append(f"{name},sha256={digest.rstrip(b'=').decode()},{len(text)}")
        lines.append("tiny-1.0.dist-info/RECORD,,")
        archive.writestr("tiny-1.0.dist-info/RECORD", "\n".join(lines) + "\n")
    return path


def repository(bare: Path) -> None:
    def git(*words: object) -> str:
        env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
        who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
        done = subprocess.run(
            ["git", *who, *map(str, words)], env=env, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "--bare", "-q", "-b", "main", bare)
    empty = git("--git-dir", bare, "hash-object", "-t", "tree", "-w", "/dev/null")
    commit = git("--git-dir", bare, "commit-tree", "-m", "first", empty)
    git("--git-dir", bare, "update-ref", "refs/heads/main", commit)
    git("--git-dir", bare, "update-server-info")
