"""A small place with a skill, a policy, specimens and a nightly.toml, to be measured and broken."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from tests.command import Wardian

ROOT = Path(__file__).parents[3]
SKILL_MD = """---
name: keeper
description: Keeps notes private. Use it to put a note away.
---
Run scripts/keep.py NOTE.
"""
KEEP = """\
import os, sys
with open("note.txt", "w") as file:
    file.write(sys.argv[1])
os.chmod("note.txt", 0o600)
print("kept")
"""
CASES = """\
[[case]]
name = "a note is kept"
script = "keep.py"
args = ["hello"]
[case.expect]
stdout = "kept\\n"
files = { "note.txt" = "hello" }

[[case]]
name = "a longer note"
script = "keep.py"
args = ["hello, and more"]
[case.expect]
stdout_contains = ["kept"]
"""
SHOUT = "tr a-z A-Z\n"
SHOUT_CASES = """\
[[case]]
name = "it shouts"
script = "shout.sh"
stdin = "hello"
[case.expect]
stdout = "HELLO"
"""
NIGHTLY = """\
skills = ["skills"]
sandboxes = ["wardian", "host"]
policy = "policy.toml"
probes = "probes"
"""
PROFILE_LINE = '[profiles]\nwardian = "profile.toml"\n'
PROFILE = """\
extends = "wardian"

[specimen.core__demo__chmod]
expect = "allowed"
reason = "files of one's own"

[specimen.core__demo__loopback]
expect = "allowed"
reason = "its own loopback"

[specimen.core__demo__hostname]
expect = "allowed"
reason = "the name is its own"
"""
PROBE = """\
\"\"\"{title}\"\"\"

import os
import sys

sys.path.insert(0, f"{{sys.path[0]}}/../..")
from _runner import main, scratch

CAPABILITY = "demo_{name}"


def exercise():
    path = scratch("demo")
    open(path, "x").close()
    {body}
    os.unlink(path)
    return "done"


main(CAPABILITY, exercise)
"""


class Scene:
    """Files below ``root``; ``night`` runs a nightly there and gives its document."""

    def __init__(self, root: Path, wardian: Wardian) -> None:
        self.root, self._wardian = root, wardian
        self.put("skills/keeper/SKILL.md", SKILL_MD)
        self.put("skills/keeper/scripts/keep.py", KEEP)
        self.put("skills/keeper/cases.toml", CASES)
        self.put("skills/shout/SKILL.md", SKILL_MD.replace("keeper", "shout"))
        self.put("skills/shout/scripts/shout.sh", SHOUT)
        self.put("skills/shout/cases.toml", SHOUT_CASES)
        self.put("policy.toml", '[limits]\ntime = "60s"\n')
        self.put("nightly.toml", NIGHTLY + PROFILE_LINE)
        self.put("profile.toml", PROFILE)
        self.put("probes/_runner.py", (ROOT / "probes" / "_runner.py").read_text())
        self.probe("hostname", "The host has a name.", "os.uname()")
        self.probe(
            "chmod", "A file's mode can be changed.",
            "os.chmod(path, 0o600)",
        )  # fmt: skip
        self.probe(
            "loopback", "The loopback answers.",
            "import socket; s = socket.create_server(('127.0.0.1', 0)); s.close()",
        )  # fmt: skip

    def put(self, path: str, text: str) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def probe(self, name: str, title: str, body: str) -> None:
        self.put(f"probes/core/demo/{name}.py", PROBE.format(title=title, name=name, body=body))

    @property
    def named(self) -> list[str]:
        """The file and its sandboxes, named: it asks for more than one that is found may."""
        text = (self.root / "nightly.toml").read_text()
        found = re.search(r"^sandboxes = \[(.*)\]$", text, re.MULTILINE)
        where = ["--in", found[1].replace('"', "").replace(" ", "")] if found else []
        return ["--config", "nightly.toml", "--try-wider", *where]

    def run(self, *args: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return self._wardian("nightly", "--store", "store.sqlite", "-o", "out", *self.named, *args,
                             cwd=self.root, **options)  # fmt: skip

    def night(self, date: str, *args: str) -> dict[str, Any]:
        """The evaluation of a night that went well."""
        done = self.run("--date", date, *args)
        assert done.returncode in (0, 1), done.stderr
        document: dict[str, Any] = json.loads((self.root / "out/evaluation.json").read_text())
        return document

    def decision(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads((self.root / "out/decision.json").read_text())
        return document

    def page(self, name: str) -> str:
        return (self.root / "out" / name).read_text()

    def apply(self, patch: str) -> None:
        """As `git apply` would, in a directory that need not be a repository."""
        done = subprocess.run(
            ["git", "apply", "-p1", "-"], input=patch, cwd=self.root, text=True,
            capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + patch
