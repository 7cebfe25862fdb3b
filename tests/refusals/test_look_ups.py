"""Where /dev/fuse can't be opened: what is reported by default, and what ``explain`` adds."""

from __future__ import annotations

from pathlib import Path

import pytest

from wardian import Policy, Result, Sandbox, Share
from wardian.cli.running import lookups_unseen, noteworthy
from wardian.cli.summary import UNSEEN_LINE, summary
from wardian.observe.trace import traced
from wardian.sandbox.backends import wardian as backend
from wardian.sandbox.host import this_host
from wardian.sandbox.run.protections import EXPLAINED, UNSEEN

DEFAULT = Policy.default()
EXPLAIN = DEFAULT.but(explain=True)


@pytest.fixture(autouse=True)
def without_fuse(monkeypatch: pytest.MonkeyPatch) -> None:
    host = this_host()._replace(fuse=False)
    monkeypatch.setattr(backend, "this_host", lambda: host)


@pytest.fixture
def secret(tmp_path: Path) -> str:
    file = tmp_path / "secret"
    file.write_text("not for guests")
    return str(file)


def note_of(result: Result) -> str:
    return next(wall.note for wall in result.protections if wall.name == "notify")


def run(policy: Policy, *command: str) -> Result:
    with Sandbox.create(policy) as sandbox:
        return sandbox.run(command)


@pytest.mark.parametrize("program", ["cat", "stat"])
def test_a_look_up_is_not_reported_by_default_and_the_result_says_so(
    program: str, secret: str
) -> None:
    result = run(DEFAULT, program, secret)
    assert result.exit_code != 0
    assert secret not in [one.target for one in result.refusals]
    assert note_of(result) == UNSEEN


@pytest.mark.parametrize("program", ["cat", "stat"])
def test_explain_reports_it_with_its_remedy(program: str, secret: str) -> None:
    result = run(EXPLAIN, program, secret)
    (found,) = [one for one in result.refusals if one.target == secret]
    assert found.allow is not None
    assert found.allow.flag == f"--read {secret}"
    assert note_of(result) == EXPLAINED


@pytest.mark.parametrize(
    "command", ["echo x > @/new", "rm @/old", "mkdir @/sub", "mv @/old @/moved", "ln -s x @/link"]
)
def test_a_refused_change_is_reported_by_default(command: str, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("x")
    policy = DEFAULT.with_shares([Share(str(tmp_path), str(tmp_path))])
    result = run(policy, "sh", "-c", command.replace("@", str(tmp_path)))
    assert result.exit_code != 0
    assert f"--write {tmp_path}" in [one.allow.flag for one in result.refusals if one.allow]


def test_a_program_that_is_not_shared_and_the_network_are_reported_by_default(
    tmp_path: Path,
) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    result = run(DEFAULT, "sh", "-c", str(program))
    assert str(program) in [one.target for one in result.refusals]
    code = "import socket; socket.create_connection(('192.0.2.1', 80), 1)"
    assert "network" in [one.kind for one in run(DEFAULT, "/usr/bin/python3", "-c", code).refusals]


def test_a_trace_sees_look_ups_all_the_same(secret: str) -> None:
    with Sandbox.create(DEFAULT) as sandbox:
        trace = traced(sandbox, ["cat", secret])
    assert secret in [one.path for one in trace.files]


def test_a_run_that_failed_says_how_to_see_them(secret: str) -> None:
    failed = run(DEFAULT, "cat", secret)
    assert noteworthy(failed)
    assert UNSEEN_LINE in summary(failed, verbose=False)
    assert "--explain" in UNSEEN_LINE
    code = "import socket; socket.create_connection(('192.0.2.1', 80), 1)"
    explained = run(DEFAULT, "/usr/bin/python3", "-c", code)
    assert explained.likely_causes
    assert UNSEEN_LINE not in summary(explained, verbose=False)


@pytest.mark.parametrize(
    ("policy", "command"),
    [(DEFAULT, ("true",)), (EXPLAIN, ("false",)), (DEFAULT.but(degrade=("notify",)), ("false",))],
    ids=["it ran well", "they were watched", "nothing is reported"],
)
def test_otherwise_that_is_not_said(policy: Policy, command: tuple[str, ...]) -> None:
    result = run(policy, *command)
    assert not lookups_unseen(result)
    assert UNSEEN_LINE not in summary(result, verbose=True)
