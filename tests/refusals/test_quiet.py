"""Nothing is invented: a program that works causes only routine refusals, and what exists nowhere is
never reported."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import MakeSandbox
from tests.refusals.wall import PYTHON
from wardian import Policy, Result, Sandbox
from wardian.sandbox.refusals.ranking import is_news

IMPORTS = """
import asyncio, concurrent.futures, ctypes, curses, decimal, email, hashlib, http.client, json
import locale, logging, lzma, multiprocessing, pathlib, random, sqlite3, ssl, subprocess, tempfile
import threading, time, urllib.request, uuid, xml.etree.ElementTree, zipfile, zoneinfo
"""


def python(code: str) -> list[str]:
    return [PYTHON, "-c", code]


def shell(code: str) -> list[str]:
    return ["sh", "-c", code]


SERVER = "a = s.create_server(('127.0.0.1', 0)); s.create_connection(a.getsockname())"
COMMIT = "git -c user.name=a -c user.email=b commit -q --allow-empty -m m"
PROGRAMS = {
    "python-imports": python(IMPORTS),
    "python-locale": python("import locale; locale.setlocale(locale.LC_ALL, '')"),
    "python-ssl": python("import ssl; ssl.create_default_context()"),
    "python-sqlite": python("import sqlite3; sqlite3.connect('d').execute('create table t(x)')"),
    "python-multiprocessing": python("import multiprocessing as m; m.Pool(2).map(abs, [1])"),
    "python-time": python("import time, zoneinfo; zoneinfo.ZoneInfo('UTC'); time.localtime()"),
    "python-users": python("import getpass, os; getpass.getuser(); os.path.expanduser('~')"),
    "python-own-server": python(f"import socket as s; {SERVER}"),
    "pip": [PYTHON, "-m", "pip", "--version"],
    "bash": ["bash", "-c", "for i in 1 2 3; do echo $i | cat; done > out; [[ -s out ]]"],
    "bash-login": ["bash", "-lc", "true"],
    "list-root": ["ls", "-la", "/"],
    "find": ["find", "/etc", "/tmp", "/work"],
    "processes": ["ps", "aux"],
    "tar": shell("mkdir a; echo x > a/b; tar czf a.tgz a && rm -r a && tar xzf a.tgz"),
    "sqlite": ["sqlite3", "d", "create table t(x); insert into t values(1); select * from t"],
    "git": shell(f"git init -q . && {COMMIT} && git log"),
    "gcc": shell("echo 'int main(void) { return 0; }' > a.c && gcc a.c -o a && ./a"),
    "make": shell("printf 'all: b\\nb:\\n\\techo x > b\\n' > Makefile && make -j2"),
    "node": ["node", "-e", "require('fs').writeFileSync('x', 'y')"],
    "npm": ["npm", "--version"],
    "perl": ["perl", "-MPOSIX", "-e", "print strftime('%c', localtime)"],
    "curl": ["curl", "--version"],
    "jobs": shell("sleep 0.1 & kill $!; wait; kill -0 $! || true"),
}


def reported(result: Result) -> list[str]:
    """What a person would hear of."""
    shown = [one for one in result.refusals if is_news(one, failed=result.exit_code != 0)]
    return [f"{one.kind} {one.action} {one.target}: {one.process}" for one in shown]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("where", ["private", "shared"])
def test_a_program_that_works_is_refused_nothing(
    name: str,
    where: str,
    make_sandbox: MakeSandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # whatever lies in this user's own is another matter
    command = PROGRAMS[name]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    policy = Policy.default()
    result = make_sandbox(policy.but(work=str(tmp_path)) if where == "shared" else policy).run(
        command
    )
    if name == "pip" and b"No module named pip" in result.stderr:
        pytest.skip("pip is not installed")
    assert result.exit_code == 0, result.stderr
    assert reported(result) == []


@pytest.fixture
def same_name() -> Iterator[Path]:
    """Something of the host's below /tmp, whose name the guest uses for something of its own."""
    path = Path(f"/tmp/wardian-test-{os.getpid()}")
    path.mkdir()
    (path / "f").write_bytes(b"")
    yield path
    shutil.rmtree(path)


def test_what_exists_nowhere_is_not_reported(sandbox: Sandbox) -> None:
    names = ["/nowhere/a", "/etc/nothing-of-this-name", "/tmp/nothing", "nothing", "/root/a/b/c/d"]
    script = "; ".join(f"cat {n}; ls {n}; test -e {n}; echo > {n}/x; rm {n}; {n}" for n in names)
    assert reported(sandbox.run(["sh", "-c", f"cd /; {script}"])) == []


def test_its_own_files_are_its_own_even_if_the_host_has_the_same_names(
    sandbox: Sandbox, same_name: Path
) -> None:
    script = (
        f"mkdir {same_name} && cd {same_name} && echo x > f && cat f && mv f g && mv g f && rm f"
        f" && mkdir d && rmdir d && ln -s f l && rm l && cd / && rmdir {same_name}"
    )
    for _ in range(5):
        result = sandbox.run(["sh", "-c", script])
        assert (result.exit_code, reported(result)) == (0, []), result.stderr


def test_a_link_to_an_open_descriptor_leads_to_its_own(sandbox: Sandbox) -> None:
    script = "echo x | cat /dev/stdin /dev/fd/0; cat /dev/fd/3 3< /etc/passwd; ls /proc/self/fd"
    assert reported(sandbox.run(["bash", "-c", script])) == []


def test_its_own_listener_is_its_own_even_if_the_host_has_one_at_the_same_port(
    sandbox: Sandbox,
) -> None:
    code = """
import socket, sys, threading
port = int(sys.argv[1])
try:
    socket.create_connection(('127.0.0.1', port))
    sys.exit('someone else is there')
except ConnectionRefusedError:
    pass
server = socket.create_server(('127.0.0.1', port))
socket.create_connection(('127.0.0.1', port))
datagrams = socket.socket(type=socket.SOCK_DGRAM)
datagrams.bind(('127.0.0.1', 0))
datagrams.sendto(b'x', datagrams.getsockname())
"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        result = sandbox.run([PYTHON, "-c", code, port])
    assert (result.exit_code, reported(result)) == (0, []), result.stderr


def test_a_process_that_has_ended_is_not_one_of_the_host_s(sandbox: Sandbox) -> None:
    code = """
import os
for _ in range(30):
    pid = os.fork() or os._exit(0)
    os.waitpid(pid, 0)
    try: os.kill(pid, 0)
    except ProcessLookupError: pass
"""
    assert reported(sandbox.run([PYTHON, "-c", code])) == []


def test_with_the_host_s_network_its_addresses_are_not_refused(make_sandbox: MakeSandbox) -> None:
    code = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])))"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        result = make_sandbox(Policy.default().but(network="host")).run([PYTHON, "-c", code, port])
    assert (result.exit_code, reported(result)) == (0, []), result.stderr
