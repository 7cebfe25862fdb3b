"""A small internet for the tests, and commands in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.command import COMMAND
from tests.network import internet as program
from tests.network.servers import clean
from tests.network.stock import stock

PYTHON = "/usr/bin/python3"


class Done(NamedTuple):
    """What came of a command, and what the servers saw meanwhile."""

    code: int
    stdout: str
    stderr: str
    seconds: float
    seen: list[list[Any]]

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.stdout)
        return found

    def asked(self, name: str) -> bool:
        """Has a question for this name left the guest and wardian?"""
        return any(one[0] == "dns" and one[2] == name for one in self.seen)

    @property
    def visits(self) -> list[list[Any]]:
        """What reached a server, but for the resolver."""
        return [one for one in self.seen if one[0] != "dns"]


class Internet:
    """One process in namespaces of its own; commands run there one after another."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        command = ["unshare", *own, "--net", "--mount", sys.executable, "-P", program.__file__]
        self._process = subprocess.Popen(
            [*command, directory],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={k: v for k, v in os.environ.items() if "CERT" not in k and "CA_BUNDLE" not in k},
        )  # it has an authority of its own
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "ready\n":
            pytest.skip("this host lets nobody have a network of their own")

    def run(
        self,
        *argv: object,
        env: dict[str, str] | None = None,
        timeout_s: float = 60,
        stdin: str = "",
    ) -> Done:
        """A command as the host of this internet."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {
            "argv": [str(word) for word in argv],
            "env": env or {},
            "timeout_s": timeout_s,
            "cwd": str(self.directory),
        }
        print(json.dumps(request), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline())
        return Done(**answer)

    def start(self, argv: tuple[str, ...], port: int) -> None:
        """A server that answers at this port of every address."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"server": argv, "port": port}), file=self._process.stdin, flush=True)
        assert json.loads(self._process.stdout.readline())["problem"] == ""

    def exec(self, *words: object, **more: Any) -> Done:
        """``wardian exec --json WORDS``."""
        return self.run(*COMMAND, "exec", "--json", *words, **more)

    def guest(self, code: str, *rules: str, options: tuple[object, ...] = (), **more: Any) -> Done:
        """A Python program under these rules."""
        nets = [word for rule in rules for word in ("--net", rule)]
        return self.exec(*nets, *options, "--", PYTHON, "-I", "-S", "-c", code, **more)

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()
        clean(self.directory)


def certificates(directory: Path) -> None:
    """An authority of our own, ``ca.pem``, and a certificate for all names of the zone."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    names = ",".join(f"DNS:{name}" for name in [*program.ZONE, "*.example.com"])
    commands = (
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout ca.key"
        " -out ca.pem -subj /CN=Small",
        "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out req.pem"
        " -subj /CN=small",
        "x509 -req -in req.pem -CA ca.pem -CAkey ca.key -days 2 -out cert.pem -extfile names",
    )
    (directory / "names").write_text(f"subjectAltName={names}\n")
    for command in commands:
        subprocess.run([openssl, *command.split()], cwd=directory, check=True, capture_output=True)


@pytest.fixture(scope="session")
def internet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Internet]:
    directory = tmp_path_factory.mktemp("internet")
    directory.chmod(0o755)
    certificates(directory)
    made = Internet(directory)
    yield made
    made.close()


@pytest.fixture(scope="session")
def stocked(internet: Internet) -> Internet:
    """The internet, with something to be had from its servers."""
    stock(internet)
    return internet
