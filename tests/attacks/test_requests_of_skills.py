"""What a skill writes about its own cases is a request: it grants nothing, reads nothing outside
the skill, and can't keep wardian waiting."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from wardian.cli.commands import group as commands
from wardian.cli.learn import run as learn
from wardian.errors import InputError, WardianError
from wardian.measure.campaign.performing import perform
from wardian.measure.campaign.units import of_skills
from wardian.measure.campaign.workbench import here
from wardian.measure.skills.inventory import inventory
from wardian.runner.cases.granting import NotGrantedError, granted
from wardian.runner.cases.model import SkillCase
from wardian.runner.cases.patterns import Matcher, PatternError
from wardian.runner.cases.reading import read_cases
from wardian.sandbox.policy.policy import Policy

PROMPT_S = 120.0  # a busy machine included


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """An ordinary skill without cases."""
    folder = tmp_path / "asker"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: asker\ndescription: Asks.\n---\n\nAsk.\n")
    (folder / "scripts/ask.sh").write_text("#!/bin/sh\necho asked\n")
    (folder / "scripts/ask.sh").chmod(0o755)
    return folder


def with_case(skill: Path, more: str, script: str = "ask.sh") -> Path:
    (skill / "cases.toml").write_text(f"[[case]]\nname = 'one'\nscript = '{script}'\n{more}\n")
    return skill


def run_test(skill: Path, *options: str) -> tuple[int, dict[str, Any]]:
    done = CliRunner().invoke(commands, ["test", str(skill), "--json", *options])
    return done.exit_code, json.loads(done.stdout)


@pytest.fixture
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A service of the host's, on its own loopback; what it heard."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    heard.append(connection.recv(100))

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1], heard
        server.shutdown(socket.SHUT_RDWR)


def asks_for_network(skill: Path, port: int) -> Path:
    (skill / "scripts/call.py").write_text(
        f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 5).sendall(b'secret')\n"
    )
    return with_case(skill, "network = 'host'", "call.py")


# The network


def test_a_case_does_not_get_the_hosts_network_by_asking(
    skill: Path, listener: tuple[int, list[bytes]]
) -> None:
    port, heard = listener
    code, found = run_test(asks_for_network(skill, port))
    assert code == 1
    assert found["outcomes"][0]["verdict"] == "error"
    assert "network" in found["outcomes"][0]["problems"][0]
    assert "--net host" in found["outcomes"][0]["problems"][1]
    assert heard == []


def test_a_case_gets_the_hosts_network_when_the_caller_grants_it(
    skill: Path, listener: tuple[int, list[bytes]]
) -> None:
    port, heard = listener
    code, found = run_test(asks_for_network(skill, port), "--net", "host")
    assert (code, found["outcomes"][0]["verdict"]) == (0, "pass")
    assert heard == [b"secret"]


def test_a_case_that_asks_for_no_network_has_none_though_the_caller_grants_it(
    skill: Path, listener: tuple[int, list[bytes]]
) -> None:
    port, heard = listener
    asks_for_network(skill, port)
    with_case(skill, "", "call.py")
    code, _ = run_test(skill, "--net", "host")
    assert (code, heard) == (1, [])


def test_learning_does_not_grant_the_network_that_a_case_asks_for(
    skill: Path, listener: tuple[int, list[bytes]], tmp_path: Path
) -> None:
    port, heard = listener
    target = tmp_path / "policy.toml"
    with pytest.raises(WardianError):
        learn([str(asks_for_network(skill, port)), "-o", str(target)])
    assert heard == []
    assert not target.exists()


@pytest.mark.parametrize("traced", [True, False])
def test_a_nightly_does_not_grant_the_network_that_a_case_asks_for(
    skill: Path, listener: tuple[int, list[bytes]], traced: bool
) -> None:
    port, heard = listener
    entries = inventory([str(asks_for_network(skill, port))])
    policy = Policy.default()
    (unit,) = of_skills(entries, policy, {"wardian": policy.digest}, here(), traced=traced)
    (produced,) = perform(unit)
    assert produced.outcome.status == "error"
    assert "network" in produced.outcome.cause
    assert heard == []


# Limits and variables


def test_a_case_can_shorten_the_callers_time_and_not_lengthen_it() -> None:
    policy = Policy.default().with_limits(time_s=10)
    assert granted(SkillCase("a", "b", time_s=5), policy).limits.time_s == 5
    assert granted(SkillCase("a", "b", time_s=1000), policy).limits.time_s == 10


def test_a_variable_that_the_caller_sets_is_not_replaced_by_a_case() -> None:
    policy = Policy.default().with_env({"MODE": "safe"})
    own = dict(granted(SkillCase("a", "b", env=(("MODE", "x"), ("OTHER", "y"))), policy).set_env)
    assert own == {"MODE": "safe", "OTHER": "y"}


def test_nothing_that_a_case_asks_for_widens_the_policy() -> None:
    from wardian.sandbox.policy.difference import differences

    case = SkillCase("a", "b", env=(("A", "1"),), time_s=1e9, backends=("host",), state=True)
    more = [
        one
        for one in differences(Policy.default(), granted(case, Policy.default()))
        if one.more == "b" and one.dimension != "environment"
    ]
    assert more == []
    with pytest.raises(NotGrantedError):
        granted(case._replace(network="host"), Policy.default())


@pytest.mark.parametrize("value", ["inf", "nan", "0", "-1", "1e999"])
def test_a_time_that_never_ends_is_no_time(skill: Path, value: str) -> None:
    with pytest.raises(InputError, match="time_s"):
        read_cases(str(with_case(skill, f"time_s = {value}") / "cases.toml"))


def test_a_set_up_does_not_get_a_program_of_the_hosts_by_naming_it(
    skill: Path, tmp_path: Path
) -> None:
    own = tmp_path / "private/bin"
    own.mkdir(parents=True)
    (own / "tool").write_text("#!/bin/sh\necho it ran\n")
    (own / "tool").chmod(0o755)
    code, found = run_test(with_case(skill, f"setup = [['{own}/tool']]"))
    assert code == 1
    assert "not found" in found["outcomes"][0]["problems"][0]
    (skill / "scripts/ask.py").write_text("print('asked')\n")
    setup = "setup = [['touch', 'made'], ['{python}', '-c', '1']]"
    code, _ = run_test(with_case(skill, setup, "ask.py"))
    assert code == 0


def test_what_a_case_needs_is_a_name_and_no_path(skill: Path) -> None:
    with pytest.raises(InputError, match="needs"):
        read_cases(str(with_case(skill, "needs = ['/root/.ssh/id']") / "cases.toml"))


def test_a_case_of_a_named_file_is_for_a_skill_below_the_path(skill: Path, tmp_path: Path) -> None:
    cases = tmp_path / "others.toml"
    cases.write_text("[[case]]\nname = 'x'\nscript = 'ask.sh'\nskill = '../asker'\n")
    (tmp_path / "empty").mkdir()
    done = CliRunner().invoke(commands, ["test", str(tmp_path / "empty"), "--cases", str(cases)])
    assert isinstance(done.exception, InputError)
    cases.write_text("[[case]]\nname = 'x'\nscript = 'ask.sh'\nskill = 'asker'\n")
    assert CliRunner().invoke(
        commands, ["test", str(tmp_path), "--cases", str(cases)]
    ).exit_code == 0  # fmt: skip


# Files


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "id"
    path.write_text("private")
    return path


@pytest.mark.parametrize("way", ["../id", "{absolute}", "link", "folder/id", "a/../../id"])
def test_no_input_of_a_case_comes_from_outside_the_skill(
    skill: Path, secret: Path, way: str
) -> None:
    (skill / "a").mkdir()
    (skill / "link").symlink_to(secret)
    (skill / "folder").symlink_to(secret.parent)
    way = way.replace("{absolute}", str(secret))
    with_case(skill, f"files = {{ 'x' = {{ copy = '{way}' }} }}")
    with pytest.raises(InputError, match="copy"):
        read_cases(str(skill / "cases.toml"))


def test_an_input_of_a_case_may_be_a_link_that_stays_inside(skill: Path) -> None:
    (skill / "data").mkdir()
    (skill / "data/x").write_text("inside")
    (skill / "link").symlink_to("data")
    with_case(skill, "files = { 'x' = { copy = 'link/x' } }")
    assert read_cases(str(skill / "cases.toml"))[0].files == (("x", b"inside"),)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("../x", "a path can't hold .."),
        ("/etc/x", "not a path below /work"),
        ("a/../../x", "a path can't hold .."),
    ],
)
def test_an_input_of_a_case_does_not_go_outside_the_work_directory(
    skill: Path, path: str, problem: str
) -> None:
    code, found = run_test(with_case(skill, f"files = {{ '{path}' = 'x' }}"))
    assert code == 1
    assert problem in found["outcomes"][0]["problems"][0]


@pytest.mark.parametrize("kind", ["pipe", "device", "link", "huge", "folder", "socket"])
def test_cases_that_are_no_ordinary_file_end_at_once(
    skill: Path, secret: Path, tmp_path: Path, kind: str
) -> None:
    cases = skill / "cases.toml"
    server = socket.socket(socket.AF_UNIX)
    if kind == "pipe":
        os.mkfifo(cases)
    elif kind == "device":
        cases.symlink_to("/dev/zero")
    elif kind == "link":
        cases.symlink_to(secret)
    elif kind == "huge":
        cases.touch()
        os.truncate(cases, 1 << 40)
    elif kind == "folder":
        cases.mkdir()
    else:
        os.chdir(skill)
        server.bind("cases.toml")
    began = time.monotonic()
    done = CliRunner().invoke(commands, ["test", str(skill)])
    assert isinstance(done.exception, InputError)
    with pytest.raises(WardianError):
        learn([str(skill)])
    assert inventory([str(skill)])[0].problem
    assert time.monotonic() - began < PROMPT_S
    server.close()


def test_a_pipe_as_an_input_ends_at_once(skill: Path) -> None:
    os.mkfifo(skill / "data")
    with_case(skill, "files = { 'x' = { copy = 'data' } }")
    with pytest.raises(InputError, match="not a regular file"):
        read_cases(str(skill / "cases.toml"))


@pytest.mark.parametrize(
    "text",
    ["x = " + "[" * 200_000, "x = " + "{a = " * 100_000, "x = " + "9" * 100_000, "a." * 100_000],
    ids=["arrays", "tables", "digits", "dots"],
)
def test_a_file_of_cases_that_is_nested_without_end_is_wrong_and_nothing_else(
    skill: Path, text: str
) -> None:
    (skill / "cases.toml").write_text(text)
    began = time.monotonic()
    with pytest.raises(InputError):
        read_cases(str(skill / "cases.toml"))
    assert time.monotonic() - began < PROMPT_S


# Regular expressions


@pytest.mark.parametrize("where", ["stdout_matches", "stderr_matches", "file"])
def test_a_pattern_that_backtracks_for_ever_is_given_up(skill: Path, where: str) -> None:
    text = "a" * 60 + "!"
    (skill / "scripts/ask.sh").write_text(
        f"#!/bin/sh\necho '{text}' | tee /work/f; echo '{text}' >&2\n"
    )
    key = f"{where} = '(a+)+$'" if where != "file" else "files = { f = { matches = '(a|a)*$' } }"
    began = time.monotonic()
    code, found = run_test(with_case(skill, f"expect = {{ {key} }}"))
    assert code == 1
    assert "not evaluated within" in found["outcomes"][0]["problems"][0]
    assert time.monotonic() - began < PROMPT_S


def test_an_ordinary_pattern_matches_at_each_line(skill: Path) -> None:
    assert run_test(with_case(skill, "expect = { stdout_matches = '^ask.d$' }"))[0] == 0
    assert run_test(with_case(skill, "expect = { stdout_matches = '^ask$' }"))[0] == 1


def test_many_patterns_that_take_long_are_given_up_together() -> None:
    matcher = Matcher()
    with pytest.raises(PatternError, match="not evaluated within"):
        matcher.found("(a+)+$", "a" * 60 + "!")
    began = time.monotonic()
    for number in range(1000):
        with pytest.raises(PatternError, match="took too long"):
            matcher.found("(a+)+$", "a" * (61 + number) + "!")
    assert time.monotonic() - began < 5


def test_a_pattern_that_took_too_long_is_not_tried_again_on_the_same_text() -> None:
    """learn and nightly run a case many times, each with a budget of its own."""
    text = "a" * 70 + "!"
    with pytest.raises(PatternError, match="not evaluated within") as first:
        Matcher().found("(a+)+$", text)
    began = time.monotonic()
    for _ in range(100):
        with pytest.raises(PatternError) as again:
            Matcher().found("(a+)+$", text)
        assert str(again.value) == str(first.value)
    assert time.monotonic() - began < 5
    assert Matcher().found("(a+)+$", "aaa")


@pytest.mark.parametrize(
    "pattern",
    ["(" * 20_000, "a{1,99999999999}", "(?i)" + "[\\x00-\\U0010ffff]" * 3000, "x" * 100_000, "("],
    ids=["nested", "counted", "folded", "long", "open"],
)
def test_a_pattern_that_can_not_be_compiled_is_wrong_and_nothing_else(
    skill: Path, pattern: str
) -> None:
    began = time.monotonic()
    with_case(skill, f"expect = {{ stdout_matches = '{pattern}' }}")
    with pytest.raises(InputError, match="regular expression"):
        read_cases(str(skill / "cases.toml"))
    assert time.monotonic() - began < PROMPT_S


def test_what_a_pattern_meets_may_be_large(skill: Path) -> None:
    assert Matcher().found("z$", "ab" * (8 << 20) + "z")
    with pytest.raises(PatternError, match="memory"):
        Matcher().found("(a|b)*c", "ab" * (16 << 20))
