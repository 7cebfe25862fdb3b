"""Expectations are data: strict, with a reason for each, and pointed at where they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardian.errors import InputError
from wardian.measure.outcome import PROBE
from wardian.measure.probes.expectations import Known, default_profile, profile_names, read_profile
from wardian.measure.probes.specimen import Specimen, find_specimens, probes_dir
from wardian.measure.probes.verdict import (
    EXPECTED,
    OBSERVED,
    Observation,
    ProbeExpectation,
    judge,
    read_observation,
)

ONE = Specimen("core__network__x", "network_x", "python", "core/network/x.py", "/probes")
OTHER = ONE._replace(id="core__network__x_native", language="c")
FAR = ONE._replace(id="core__time__y", capability="time_y", path="core/time/y.py")


def profile_file(tmp_path: Path, text: str, name: str = "mine.toml") -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


GOOD = """\
description = "mine"

[domain.network]
expect = "blocked"
reason = "there is none"

[capability.network_x]
expect = "any"
errno = "EPERM"
reason = "it depends"

[specimen.core__network__x_native]
expect = "allowed"
reason = "only this one"
"""


def test_the_nearest_expectation_wins(tmp_path: Path) -> None:
    profile = read_profile(profile_file(tmp_path, GOOD))
    assert profile.of(OTHER) == ProbeExpectation("allowed", "only this one")
    assert profile.of(ONE) == ProbeExpectation("any", "it depends", ("EPERM",))
    assert profile.of(ONE._replace(capability="network_z")).reason == "there is none"
    assert profile.of(FAR) == ProbeExpectation()
    assert (profile.name, profile.description) == ("mine", "mine")


def test_a_profile_extends_another_and_wins_over_it(tmp_path: Path) -> None:
    profile_file(tmp_path, GOOD, "base.toml")
    text = 'extends = "./base.toml"\n[capability.network_x]\nexpect = "allowed"\nreason = "now"\n'
    profile = read_profile(profile_file(tmp_path, text))
    assert profile.of(ONE) == ProbeExpectation("allowed", "now")
    assert profile.of(OTHER).reason == "only this one"
    assert profile.description == "mine"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("x = 1\n", 1, "there is no 'x'"),
        ("description = 1\n", 1, "must be a text"),
        ("[capability]\nnetwork_x = 1\n", 2, "must be a table"),
        ('[capability.network_x]\nexpect = "yes"\nreason = "r"\n', 2, "expect is one of"),
        ('[capability.network_x]\nreason = "r"\n', 1, "expect is one of"),
        ('\n[capability.network_x]\nexpect = "blocked"\n', 2, "needs a reason"),
        ('[capability.network_x]\nexpect = "blocked"\nreason = " "\n', 1, "needs a reason"),
        (
            '[capability.network_x]\nexpect = "blocked"\nreason = "r"\nerrno = ["EOOPS"]\n',
            4,
            "names such as EPERM",
        ),
        (
            '[capability.network_x]\nexpect = "allowed"\nreason = "r"\nerrno = "EPERM"\n',
            4,
            "has no errno",
        ),
        ('[capability.network_x]\nexpekt = "blocked"\n', 2, "there is no 'expekt'"),
        ('[capability.network_y]\nexpect = "blocked"\nreason = "r"\n', 1, "no capability"),
        ('[specimen.core__a__b]\nexpect = "blocked"\nreason = "r"\n', 1, "no specimen"),
        ('[domain.nowhere]\nexpect = "blocked"\nreason = "r"\n', 1, "no domain"),
        ('extends = "no-such-profile"\n', 1, "no profile"),
        ('extends = "./mine.toml"\n', 1, "extend each other"),
    ],
)
def test_what_is_wrong_is_reported_with_file_and_line(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    path = profile_file(tmp_path, text)
    with pytest.raises(InputError, match=message) as error:
        read_profile(path, Known.of([ONE, OTHER]))
    assert error.value.path is not None
    assert error.value.path.endswith("mine.toml")
    assert error.value.line == line


@pytest.mark.parametrize(
    "data",
    [b"\xff", b"x = ", b"[" * 100_000, b"x" * (2 << 20)],
    ids=["bytes", "cut", "deep", "big"],
)
def test_damaged_files_are_errors_without_a_traceback(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(data)
    with pytest.raises(InputError):
        read_profile(str(path))


def test_a_directory_and_an_absent_file_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be read"):
        read_profile(str(tmp_path / "nowhere.toml"))
    with pytest.raises(InputError, match="can't be read"):
        read_profile(f"{tmp_path}/")


def test_every_shipped_profile_speaks_only_of_what_is_there() -> None:
    known = Known.of(find_specimens(probes_dir()))
    assert {"wardian", "bubblewrap", "gvisor", "host-user", "host-root"} <= set(profile_names())
    for name in profile_names():
        assert read_profile(name, known).description


def test_the_host_is_expected_to_differ_for_root(as_root: bool) -> None:
    assert default_profile("host") == ("host-root" if as_root else "host-user")
    assert default_profile("gvisor") == "gvisor"


# Judging


@pytest.mark.parametrize(
    ("observed", "errno", "expect", "errnos", "status"),
    [
        ("allowed", None, "allowed", (), "supported"),
        ("allowed", None, "any", (), "supported"),
        ("allowed", None, "blocked", (), "allowed_unexpected"),
        ("blocked", "EPERM", "allowed", (), "blocked_unexpected"),
        ("blocked", "EPERM", "blocked", (), "blocked_expected"),
        ("blocked", "EPERM", "any", (), "blocked_expected"),
        ("blocked", "EPERM", "blocked", ("EACCES", "EPERM"), "blocked_expected"),
        ("blocked", "ENOENT", "blocked", ("EPERM",), "blocked_unexpected"),
        ("blocked", None, "blocked", ("EPERM",), "blocked_unexpected"),
        ("blocked", "ENOTSUP", "blocked", ("EOPNOTSUPP",), "blocked_expected"),
        ("unavailable", None, "blocked", (), "unavailable"),
        ("error", None, "blocked", (), "error"),
    ],
)
def test_an_observation_and_an_expectation_make_a_status(
    observed: str, errno: str | None, expect: str, errnos: tuple[str, ...], status: str
) -> None:
    verdict = judge(Observation(observed, errno, "x"), ProbeExpectation(expect, "because", errnos))
    assert verdict.status == status
    if status.endswith("_unexpected") or status == "error":
        assert verdict.cause


@given(st.sampled_from(OBSERVED), st.sampled_from(EXPECTED), st.sampled_from([None, "EPERM"]))
def test_there_is_a_status_for_everything(observed: str, expect: str, errno: str | None) -> None:
    assert judge(Observation(observed, errno), ProbeExpectation(expect, "r")).status in PROBE


RIGHT = {
    "schema": "wardian.observation/1",
    "id": "core__network__x",
    "capability": "network_x",
    "observed": "blocked",
    "errno": "EPERM",
    "detail": "no",
}


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "other/1"},
        {"id": "core__network__y"},
        {"capability": "network_y"},
        {"observed": "perhaps"},
        {"observed": None},
        {"errno": "EOOPS"},
        {"errno": 1},
        {"detail": 7},
    ],
)
def test_an_observation_is_believed_only_if_it_is_well_formed(change: dict[str, object]) -> None:
    assert read_observation(RIGHT, "core__network__x", "network_x") == (
        Observation("blocked", "EPERM", "no")
    )
    with pytest.raises(ValueError, match="`"):
        read_observation(RIGHT | change, "core__network__x", "network_x")


@given(st.recursive(st.none() | st.booleans() | st.text() | st.integers(), st.lists))
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="JSON object"):
        read_observation(value, "x", "y")


def test_a_profile_may_leave_what_the_table_denies_to_the_table(tmp_path: Path) -> None:
    profile = read_profile(profile_file(tmp_path, 'syscalls = "table"\n'))
    denied = ONE._replace(capability="syscall_mount")
    assert profile.of(denied).expect == "blocked"
    assert profile.of(denied).errno == ("EPERM",)
    assert profile.of(ONE._replace(capability="syscall_openat2")).errno == ("ENOSYS",)
    assert profile.of(ONE._replace(capability="syscall_read")) == ProbeExpectation()
    assert read_profile(profile_file(tmp_path, "")).of(denied) == ProbeExpectation()


def test_a_profile_has_no_other_word_for_the_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='syscalls is "table" or ""'):
        read_profile(profile_file(tmp_path, 'syscalls = "filter"\n'))
