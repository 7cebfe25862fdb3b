"""The policy as a value: frozen, compared, identified by a digest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import wardian
from wardian import Limits, Policy, Share
from wardian.errors import UsageError
from wardian.sandbox.policy.policy import normal


def test_a_policy_can_t_be_changed() -> None:
    with pytest.raises(AttributeError):
        Policy.default().network = "host"  # type: ignore[misc]


def test_the_default_has_limits_and_no_network() -> None:
    policy = Policy.default()
    assert policy.network == "none"
    assert None not in tuple(policy.limits)
    assert policy.shares == ()
    assert policy.degrade == ()


def test_equal_policies_have_equal_digests() -> None:
    assert Policy.default().digest == Policy.default().digest
    one = Policy.default().with_env({"B": "2", "A": "1"})
    two = Policy.default().with_env({"A": "1"}).with_env({"B": "2"})
    assert one == two
    assert one.digest == two.digest
    whole, fraction = Policy(limits=Limits(time_s=60)), Policy(limits=Limits(time_s=60.0))
    assert whole == fraction
    assert whole.digest == fraction.digest


def test_the_digest_is_the_same_in_another_process() -> None:
    program = "from wardian import Policy; print(Policy.default().digest)"
    shown = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(Path(wardian.__file__).parents[1]), "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.strip() == Policy.default().digest
    assert shown.stdout.startswith("sha256:")


@pytest.mark.parametrize(
    "change",
    [
        {"network": "host"},
        {"interface": True},
        {"explain": True},
        {"work": "/tmp"},
        {"shares": (Share("/tmp", "/tmp"),)},
        {"pass_env": ("X",)},
        {"set_env": (("A", "b"),)},
        {"allow_syscalls": ("ptrace",)},
        {"deny_syscalls": ("socket",)},
        {"landlock_abi": 3},
        {"degrade": ("notify",)},
        {"limits": Limits(time_s=1)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_differs_changes_the_digest(change: dict[str, object]) -> None:
    assert Policy.default().but(**change).digest != Policy.default().digest  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "path", "at"),
    [
        ("/a/b", "/a/b", "/a/b"),
        ("/a/b/", "/a/b", "/a/b"),
        ("/a/../b", "/b", "/b"),
        ("/a:/b", "/a", "/b"),
        ("/a:b", "/a:b", "/a:b"),
        ("/a:/b:/c", "/a:/b", "/c"),
        ("/a:/b/../../c", "/a", "/c"),
        ("/a://b//c/", "/a", "/b/c"),
        ("/with space", "/with space", "/with space"),
    ],
)
def test_a_share_is_read(text: str, path: str, at: str) -> None:
    assert Share.parse(text, write=False) == Share(path, at)


@pytest.mark.parametrize("text", ["", "relative", "./x", ":/b", "a:/b", "/a\0b"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Share.parse(text, write=False)


def test_a_relative_share_counts_from_its_base() -> None:
    assert Share.parse("x:/y", write=True, base="/base") == Share("/base/x", "/y", True)
    assert Share.parse("../x", write=True, base="/base/d") == Share("/base/x", "/base/x", True)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/", "/"), ("//", "/"), ("/a//b/./c/..", "/a/b"), ("/../..", "/"), ("a", "/a")],
)
def test_a_place_inside_is_normal(path: str, expected: str) -> None:
    assert normal(path) == expected


def test_passed_and_set_variables_come_together_and_set_ones_win() -> None:
    policy = Policy(pass_env=("A", "B", "GONE"), set_env=(("B", "set"),))
    assert policy.environment({"A": "1", "B": "2", "C": "3"}) == {"A": "1", "B": "set"}
