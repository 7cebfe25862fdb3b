"""``@pytest.mark.requires_capability``: other tests say what they need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import environment
from tests.measure.probes.conftest import Probe, Tree

pytestmark = pytest.mark.long

TESTS = """
import pytest

@pytest.mark.requires_capability("filesystem_good")
def test_needs_what_is_there():
    pass

@pytest.mark.requires_capability("filesystem_good", "filesystem_refused")
def test_needs_what_is_not_there():
    raise AssertionError("not to be run")

@pytest.mark.requires_capability("filesystem_hidden")
@pytest.mark.requires_capability("filesystem_hidden", sandbox="wardian")
def test_needs_it_in_the_sandbox():
    raise AssertionError("not to be run")
"""


def pytest_in(directory: Path, text: str, tree: Tree, **env: str) -> str:
    (directory / "test_them.py").write_text(text)
    # The entry point of an installed wardian would load the same module under another name.
    plugin = ["-p", "no:wardian", "-p", "wardian.measure.probes.marker", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "--strict-markers", *plugin, "test_them.py"],
        cwd=directory, capture_output=True, text=True, timeout=120, check=False,
        env=environment(WARDIAN_PROBES=str(tree.path), **env),
    )  # fmt: skip
    return done.stdout + done.stderr


def fill(tree: Tree) -> None:
    tree.python("good", "return 'fine'")
    tree.python("refused", "raise Blocked('no way', 'EPERM')")
    tree.python("hidden", "return open(witness('FILE')).read()")


def test_a_test_is_skipped_where_what_it_needs_is_not_there(tree: Tree, tmp_path: Path) -> None:
    fill(tree)
    output = pytest_in(tmp_path, TESTS, tree)
    assert "1 passed, 2 skipped" in output, output
    assert "needs filesystem_refused, which is not there here" in output
    assert "blocked EPERM: no way" in output
    assert "needs filesystem_hidden, which is not there in wardian" in output


def test_specimens_that_a_guest_could_have_changed_do_not_run_where_the_tests_do(
    tree: Tree, tmp_path: Path
) -> None:
    fill(tree)
    shared = subprocess.run(
        [sys.executable, "-m", "wardian", "exec", "--write", str(tree.path), "--", "true"],
        env=environment(XDG_STATE_HOME=str(tmp_path / "state")),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert shared.returncode == 0, shared.stderr
    output = pytest_in(tmp_path, TESTS, tree, XDG_STATE_HOME=str(tmp_path / "state"))
    assert "3 skipped" in output, output
    assert "the bare host was not named" in output


def test_artifacts_are_believed_where_they_are_named(
    tree: Tree, tmp_path: Path, probe: Probe
) -> None:
    fill(tree)
    probe("all", "--probes", str(tree.path), "--in", "host,wardian", "--artifacts", "artifacts")
    artifacts = tmp_path / "here" / "artifacts"
    path = artifacts / "host" / "core__filesystem__good.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"observed": "blocked"}))
    output = pytest_in(tmp_path, TESTS, tree, WARDIAN_ARTIFACTS=str(artifacts))
    assert "3 skipped" in output, output


def test_an_unknown_capability_is_an_error_not_a_skip(tree: Tree, tmp_path: Path) -> None:
    fill(tree)
    text = TESTS.replace('"filesystem_good")\n', '"filesystem_goood")\n')
    output = pytest_in(tmp_path, text, tree)
    assert "there is no capability 'filesystem_goood'" in output
    assert "1 error" in output


def test_the_plugin_imports_nothing_until_a_marker_is_met() -> None:
    code = (
        "import sys; before = set(sys.modules); import wardian.measure.probes.marker;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    loaded = {name for name in done.stdout.split() if name != "__future__"}
    house = "wardian", "wardian.measure", "wardian.measure.probes"
    assert loaded == {*house, "wardian.measure.probes.marker"}
