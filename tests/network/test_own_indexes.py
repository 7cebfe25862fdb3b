"""The package indexes that this machine uses, by name: its tools are asked for the hosts, a run
reaches these and nothing else, and preparing packages needs no rule at all."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.command import COMMAND
from tests.network.conftest import PYTHON
from tests.runner.conftest import needs

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif("WARDIAN_TEST_INDEX" not in os.environ, reason="indexes may not be asked"),
]
ROUNDS = 5
PIP = [PYTHON, "-m", "pip", "--disable-pip-version-check", "download", "--no-cache-dir"]
NOT_LOCAL = {"PIP_EXTRA_INDEX_URL": "", "PIP_FIND_LINKS": ""}
PROBE = "import socket; socket.create_connection(('unrelated.example.com', 443), 5)"


def natively(*argv: str, **variables: str) -> str:
    done = subprocess.run(
        argv, env=os.environ | variables, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout + done.stderr


def hosts(urls: list[str]) -> set[str]:
    return {urlsplit(url).hostname or "" for url in urls}


def pip_hosts(tmp_path: Path) -> set[str]:
    """Of the index that pip's help names, and of the wheels that it finds there."""
    index = re.search(r"default\s+(https?://[^\s)]+)", natively(*PIP, "--help"))
    assert index is not None
    words = [*PIP, "-vv", "-d", str(tmp_path / "native"), "--no-deps", "six"]
    used = re.findall(r"https?://[^\s)#]+\.whl", natively(*words, **NOT_LOCAL))
    assert used
    return hosts([index[1], *used])


def run_under(rules: set[str], *command: str) -> dict[str, Any]:
    nets = [word for rule in sorted(rules) for word in ("--net", rule)]
    line = [*COMMAND, "exec", "--json", *nets, "--", *command]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=300)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def by_remedies(rules: set[str], *command: str) -> tuple[dict[str, Any], set[str]]:
    """The result under these rules and those that refusals named, and all of them."""
    for _ in range(ROUNDS):
        document = run_under(rules, *command)
        flags = [one["allow"]["flag"] for one in document["refusals"] if one["kind"] == "network"]
        more = {shlex.split(flag)[1] for flag in flags} - rules
        if document["exit_code"] == 0 or not more:
            return document, rules
        rules = rules | more
    pytest.fail(f"no remedy helped: {rules}")


def nothing_else_is_reached(rules: set[str]) -> None:
    document = run_under(rules, PYTHON, "-c", PROBE)
    assert document["exit_code"] == 1
    (refusal,) = [one for one in document["refusals"] if one["kind"] == "network"]
    assert refusal["target"] == "unrelated.example.com"
    assert document["connections"] == []


def test_pip_downloads_by_the_names_of_its_index(tmp_path: Path) -> None:
    """Where a name leads to an address that no name may lead to, the refusal names it."""
    names = pip_hosts(tmp_path)
    words = [*PIP, "-d", "/tmp/six", "--no-deps", "--retries", "0", "six"]
    document, rules = by_remedies(names, *words)
    assert document["exit_code"] == 0, document["stderr"]
    assert "six-" in document["stdout"]
    assert {one["name"] for one in document["connections"]} <= names
    assert all(re.match(r"[\d.:/\[\]]+$", rule) for rule in rules - names)
    nothing_else_is_reached(rules)


@needs("npm")
def test_npm_shows_by_the_name_of_its_registry() -> None:
    names = hosts([natively("npm", "config", "get", "registry").splitlines()[0]])
    words = ("npm", "view", "--fetch-retries=0", "left-pad", "version")
    document, rules = by_remedies(names, *words)
    assert document["exit_code"] == 0, document["stderr"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", document["stdout"].strip())
    assert {one["name"] for one in document["connections"]} <= names
    nothing_else_is_reached(rules)


@pytest.mark.parametrize("tool", ["uv", "pip", "npm"])
def test_packages_are_prepared_from_this_machine_s_index(tool: str, tmp_path: Path) -> None:
    if shutil.which(tool) is None and tool != "pip":
        pytest.skip(f"{tool} is not installed")
    entries = os.environ["PATH"].split(os.pathsep)
    if tool == "pip":
        entries = [one for one in entries if not os.path.exists(os.path.join(one, "uv"))]
    package, command = ("six", ["python3", "-c", "import six; print('made')"])
    if tool == "npm":
        package, command = ("npm:left-pad", ["node", "-p", "require('left-pad')('made', 4)"])
    done = subprocess.run(
        [*COMMAND, "exec", "--with", package, "--", *command],
        env=os.environ
        | NOT_LOCAL
        | {"PATH": os.pathsep.join(entries), "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stdout == "made\n", done.stderr
