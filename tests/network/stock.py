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
GO = r"""
package main

import (
	"fmt"
	"io"
	"net"
	"os"
)

func main() {
	one, err := net.Dial("tcp", os.Args[1]+":80")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Fprintf(one, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", os.Args[1])
	io.Copy(os.Stdout, one)
}
"""
RUST = r"""
use std::io::{Read, Write};

fn main() {
    let host = std::env::args().nth(1).unwrap();
    let mut one = std::net::TcpStream::connect((host.as_str(), 80)).unwrap();
    write!(one, "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    one.read_to_string(&mut text).unwrap();
    println!("{text}");
}
"""
# Static programs, which no library of ours could see into.
BUILDS: tuple[tuple[list[str], dict[str, str]], ...] = (
    (["gcc", "-static", "-w", "-o", "static-c", "static.c"], {}),
    (["go", "build", "-o", "static-go", "static.go"], {"CGO_ENABLED": "0", "GO111MODULE": "off"}),
    (
        ["rustc", "--edition=2021", "-Ctarget-feature=+crt-static", "-o", "static-rust",
         "static.rs"],
        {},
    ),
)  # fmt: skip


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
    (internet.directory / "static.go").write_text(GO)
    (internet.directory / "static.rs").write_text(RUST)
    for build, variables in BUILDS:
        if shutil.which(build[0]):
            env = {**os.environ, **variables, "GOCACHE": str(internet.directory / "gocache")}
            subprocess.run(build, cwd=internet.directory, check=True, capture_output=True, env=env)
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
