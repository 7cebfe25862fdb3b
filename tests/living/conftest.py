from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command import COMMAND, environment


class Living:
    """The command line, with a runtime directory of its own."""

    def __init__(self, tmp_path: Path) -> None:
        self.cwd = tmp_path
        self.runtime = tmp_path / "runtime"
        self.runtime.mkdir(mode=0o700)
        self.directory = self.runtime / "wardian"
        self.env = environment(XDG_RUNTIME_DIR=str(self.runtime))
        self._started: list[subprocess.Popen[str]] = []

    def __call__(self, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *args],
            input=stdin, capture_output=True, text=True, timeout=60, cwd=self.cwd, env=self.env,
            check=False,
        )  # fmt: skip

    def start(self, *args: str, **options: Any) -> subprocess.Popen[str]:
        """The same, not waited for."""
        given: dict[str, Any] = {
            "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
        }  # fmt: skip
        client = subprocess.Popen(
            [*COMMAND, *args], text=True, cwd=self.cwd, env=self.env, **(given | options)
        )
        self._started.append(client)
        return client

    def close(self) -> None:
        """End every client and every sandbox."""
        for client in self._started:
            client.kill()
            client.wait()
            for stream in (client.stdin, client.stdout, client.stderr):
                if stream is not None:
                    stream.close()
        if self.directory.is_dir() and not self.directory.is_symlink():
            os.chmod(self.directory, 0o700)
            self("down", "--all")

    def up(self, *args: str) -> str:
        """The name of a new sandbox."""
        done = self("up", *args)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def inside(
        self, name: str, *command: str, options: tuple[str, ...] = (), stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """``exec --sandbox``."""
        return self("exec", "--sandbox", name, *options, "--", *command, stdin=stdin)

    def status(self, name: str) -> dict[str, Any]:
        """What ``ps`` says of one sandbox; nothing if it is not there."""
        document = json.loads(self("ps", "--json").stdout)
        return next((one for one in document["sandboxes"] if one["name"] == name), {})


@pytest.fixture
def living(tmp_path: Path) -> Iterator[Living]:
    """Every sandbox of it is ended after the test."""
    made = Living(tmp_path)
    yield made
    made.close()
