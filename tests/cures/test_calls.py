"""Hints and remedies of the Python interface, applied."""

from __future__ import annotations

import http.client
from collections.abc import Callable

import pytest

from wardian import Policy, Pool, Sandbox
from wardian.errors import PortClosed, SandboxError, UsageError
from wardian.sandbox.policy.policy import Limits
from wardian.sandbox.policy.units import format_duration


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(UsageError) as caught:
        act()
    assert caught.value.hint is not None
    return caught.value.hint


def test_no_door_takes_a_time_below_zero() -> None:
    below = Limits(time_s=-1)
    policy = Policy.default()
    doors: list[Callable[[], object]] = [
        lambda: policy.but(limits=below),
        lambda: policy.with_limits(time=-1),
        lambda: Sandbox(policy._replace(limits=below)),
        lambda: Pool(policy._replace(limits=below)),
    ]
    with Sandbox.create() as sandbox:
        doors += [
            lambda: sandbox.run(["true"], timeout_s=-1),
            lambda: sandbox.start(["true"], timeout_s=-1),
        ]
        for door in doors:
            assert refused(door) == 'write 30, 0.5, "30s", "10m", or None for no limit'
        for value in (30, 0.5, "30s", "10m", None):
            assert sandbox.run(["true"], timeout_s=value).ok


def test_no_time_at_all_is_not_spelled_in_hours() -> None:
    assert format_duration(0) == "0s"


def test_a_limit_as_its_hint_writes_it() -> None:
    policy = Policy.default()
    assert refused(lambda: policy.with_limits(time="10M")) == 'write "10m" for minutes'
    assert policy.with_limits(time="10m").limits.time_s == 600
    named = refused(lambda: policy.with_limits(minutes=1))
    for name in named.removeprefix("limits: ").split(", "):
        assert policy.with_limits(**{name: None})
    takes_text = refused(lambda: policy.but(limits=Limits(time_s="30s")))  # type: ignore[arg-type]
    assert takes_text == "policy.with_limits(time='30s') takes text"
    assert policy.with_limits(time="30s").limits.time_s == 30


@pytest.mark.parametrize(
    "script",
    [
        "for i in 1 2 3 4 5 6 7 8; do sleep 1 & done",
        "true | cat | cat | cat | cat | cat | cat | cat",
    ],
)
def test_a_short_shell_that_can_not_fork_is_explained(script: str) -> None:
    few = Policy.default().with_limits(processes=5)
    with Sandbox.create(few, fresh=True) as sandbox:
        failed = sandbox.run(["sh", "-c", script])
        assert failed.exit_code != 0
        assert [one.action for one in failed.refusals if one.kind == "limit"] == ["processes"]
        (limit,) = (one for one in failed.refusals if one.kind == "limit")
        assert limit.allow is not None
        assert limit.allow.flag == "--processes 10"
    with Sandbox.create(few.allowing(limit), fresh=True) as sandbox:
        assert sandbox.run(["sh", "-c", script]).ok


def test_words_of_a_failed_fork_explain_nothing_by_themselves() -> None:
    """Without as many processes as the limit allows, what a guest prints is only text."""
    with Sandbox.create(Policy.default().with_limits(processes=5), fresh=True) as sandbox:
        failed = sandbox.run(["sh", "-c", "echo sh: 0: Cannot fork >&2; exit 2"])
    assert failed.exit_code == 2
    assert failed.refusals == ()


def test_a_command_is_given_to_a_shell_by_name() -> None:
    with Sandbox.create() as sandbox:
        hint = refused(lambda: sandbox.run("echo hello"))
        assert hint == 'for a shell, ask for one: ["sh", "-c", "…"]'
        assert sandbox.run(["sh", "-c", "echo hello"]).stdout == b"hello\n"


def test_a_port_is_one_from_1_to_65535_and_is_waited_for() -> None:
    with Sandbox.create() as sandbox:
        assert refused(lambda: sandbox.connect(0)) == "a number from 1 to 65535"
        with pytest.raises(PortClosed) as caught:
            sandbox.connect(8000)
        hint = "start a server there first; connect(port, wait_s=10) waits for it"
        assert caught.value.hint == hint
        sandbox.start(["python3", "-m", "http.server", "8000"], background=True)
        sandbox.connect(8000, wait_s=30).close()


def test_a_port_of_the_host_that_is_taken_is_left_to_choose() -> None:
    with Sandbox.create() as sandbox:
        sandbox.start(["python3", "-m", "http.server", "8000"], background=True)
        sandbox.connect(8000, wait_s=30).close()
        with sandbox.forward(8000) as first:
            with pytest.raises(SandboxError) as caught:
                sandbox.forward(8000, host_port=first.host_port)
            assert caught.value.hint == "omit host_port to use a free one"
            with sandbox.forward(8000) as second:
                assert second.host_port != first.host_port
                page = http.client.HTTPConnection("127.0.0.1", second.host_port, timeout=30)
                page.request("GET", "/")
                assert page.getresponse().status == 200
