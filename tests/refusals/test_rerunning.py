"""What a result holds back, granted: ``sandbox.rerun(result, allow=result.likely_causes)`` gets each
program through the wall that it ran into, and changes nothing else."""

from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.refusals.scene import Scene, standing_scene
from tests.refusals.wall import Wall, filled, walls
from wardian import Policy, Refusal, Result, Sandbox, Share
from wardian.cli.options import EXEC_OPTIONS, parse, policy_of
from wardian.errors import UsageError

TABLES = ("files.tsv", "network.tsv", "limits.tsv")
# A shell's is the same wall as ``tcp``.
WALLS = [
    wall
    for table in TABLES
    for wall in walls(table)
    if wall.flag != "-" and wall.name != "tcp-from-a-shell"
]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with standing_scene(tmp_path_factory.mktemp("scene")) as standing:
        yield standing


@pytest.mark.parametrize("wall", WALLS, ids=[wall.name for wall in WALLS])
def test_the_likely_causes_granted_let_the_command_through(
    wall: Wall, scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = scene.reset("@CWD@", *wall)
    if wall.needs != "-" and wall.needs not in there:
        pytest.skip(f"this host has no {wall.needs}")
    monkeypatch.chdir(there["CWD"])
    monkeypatch.setenv("HOME", there["HOME"])
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    program = [filled(word, there) for word in wall.command()]
    options = [filled(word, there) for word in wall.options.split() if word != "-"]
    policy = policy_of(parse(options, EXEC_OPTIONS)[0])
    cwd = options[options.index("--cwd") + 1] if "--cwd" in options else None
    with Sandbox(policy, private_work=True) as sandbox:
        first = sandbox.run(program, cwd=cwd)
        assert first.exit_code != 0
        assert (wall.kind, wall.action) in {(one.kind, one.action) for one in first.likely_causes}
        scene.reset("@CWD@", *wall)
        second = sandbox.rerun(first, allow=first.likely_causes)
        assert second.exit_code == 0, (first.likely_causes, second.stderr, second.refusals)
        scene.reset("@CWD@", *wall)
        assert sandbox.run(program, cwd=cwd).exit_code != 0, "the sandbox gives no more than before"
        assert sandbox.policy == policy
    assert second.policy == policy.allowing(*first.likely_causes)


def test_a_system_call_is_allowed_by_name_and_the_rest_is_as_it_was(sandbox: Sandbox) -> None:
    program = [
        "python3",
        "-c",
        "import ctypes; raise SystemExit(ctypes.CDLL(None).unshare(0x10000000) != 0)",
    ]
    first = sandbox.run(program)
    assert [one.action for one in first.likely_causes] == ["unshare"]
    allowed = sandbox.policy.allowing(*first.likely_causes)
    assert allowed == sandbox.policy.but(allow_syscalls=("unshare",))
    second = sandbox.rerun(first, allow=first.likely_causes)
    assert [one.action for one in second.refusals if one.kind == "syscall"] == []


def test_what_nothing_would_allow_is_a_usage_error(sandbox: Sandbox) -> None:
    result = sandbox.run(["python3", "-c", "import socket; socket.socket().bind(('0.0.0.0', 80))"])
    (cause,) = result.likely_causes
    assert cause.allow is None
    for act in (
        lambda: sandbox.policy.allowing(cause),
        lambda: sandbox.rerun(result, allow=[cause]),
    ):
        with pytest.raises(UsageError, match=r"nothing can allow this: bind 0\.0\.0\.0:80"):
            act()
    with pytest.raises(UsageError, match="is not a refusal"):
        sandbox.policy.allowing("--net host")  # type: ignore[arg-type]


@pytest.fixture
def secret(scene: Scene) -> str:
    return scene.reset("@OUT@")["OUT"] + "/f"


def test_it_is_the_same_command_with_all_that_it_had(sandbox: Sandbox, secret: str) -> None:
    sandbox.files.write("sub/kept", "kept")
    script = f"pwd; cat kept; echo $WORD; cat; cat {secret}"
    first = sandbox.run(
        ["sh", "-c", script], cwd="sub", env={"WORD": "of mine"}, input="typed\n", timeout_s=20
    )
    assert first.exit_code == 1
    heard: list[bytes] = []
    second = sandbox.rerun(first, allow=first.likely_causes, on_stdout=heard.append, keep=True)
    assert second.text == "/work/sub\nkeptof mine\ntyped\nhello\n"
    assert b"".join(heard) == second.stdout
    assert (second.command, second.ok) == (first.command, True)
    third = sandbox.rerun(second)
    assert third.text == second.text, "what was allowed once is allowed when that is run again"
    assert asyncio.run(sandbox.rerun_async(first, allow=first.likely_causes)).text == second.text


def test_it_works_of_a_process_too(sandbox: Sandbox, secret: str) -> None:
    first = sandbox.start(["cat", secret]).wait(20)
    assert sandbox.rerun(first, allow=first.refusals[-1:]).text == "hello\n"


def test_more_time_lengthens_the_calls_own_limit_and_never_shortens_the_policys(
    sandbox: Sandbox,
) -> None:
    first = sandbox.run(["sleep", "1.2"], timeout_s="700ms")
    assert first.reason == "time limit"
    second = sandbox.rerun(first, allow=first.likely_causes)
    assert second.ok
    assert second.policy is not None
    assert second.policy.limits.time_s == sandbox.policy.limits.time_s


def test_values_of_variables_and_input_are_in_no_document_and_no_text(sandbox: Sandbox) -> None:
    result = sandbox.run(["false"], env={"TOKEN": "s3cr3t"}, input="s3cr3t")
    assert "s3cr3t" not in json.dumps(result.document(output=True))
    assert "s3cr3t" not in repr(result) + repr(result.given)
    with pytest.raises(UsageError, match="how its command was started"):
        sandbox.rerun(result._replace(given=None))
    again: Result = pickle.loads(pickle.dumps(result))  # noqa: S301
    assert sandbox.rerun(again).exit_code == 1


def test_likely_causes_are_what_mattered_and_in_the_document_by_position(
    sandbox: Sandbox, secret: str
) -> None:
    result = sandbox.run(["cat", secret])
    assert [one.target for one in result.likely_causes] == [secret]
    document = result.document()
    named = [document["refusals"][i] for i in document["likely_causes"]]
    assert named == [one.document() for one in result.likely_causes]
    assert sandbox.run(["true"]).likely_causes == ()


# Pure: what a policy is with several grants


def refusals_of(sandbox: Sandbox, script: str) -> tuple[Refusal, ...]:
    return sandbox.run(["sh", "-c", script]).likely_causes


def test_grants_together_never_take_from_each_other(sandbox: Sandbox, scene: Scene) -> None:
    place = scene.reset("@OUT@")["OUT"]
    reads = refusals_of(sandbox, f"cat {place}/f")
    writes = refusals_of(sandbox, f"touch {place}/new")
    wide = Share(place, place, write=True)
    policy = Policy.default()
    for order in ((*reads, *writes), (*writes, *reads)):
        assert policy.allowing(*order).shares == (wide,)
    assert policy.with_shares([wide]).allowing(*reads).shares == (wide,)
    narrow = policy.allowing(*reads)
    assert narrow.shares == (Share(f"{place}/f", f"{place}/f"),)
    assert narrow.allowing(*reads) == narrow
    own = policy.with_limits(time=None)
    limit = sandbox.run(["sleep", "5"], timeout_s=0.2).likely_causes
    assert own.allowing(*limit) == own
    assert policy.with_limits(time=1).allowing(*limit).limits.time_s == 1
    assert policy.with_limits(time=0.1).allowing(*limit).limits.time_s == 0.4
