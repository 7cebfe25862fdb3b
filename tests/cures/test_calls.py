"""Hints and remedies of the Python interface, applied."""

from __future__ import annotations

import http.client
from collections.abc import Callable

import pytest

from wardian import Answer, Policy, Pool, Sandbox
from wardian.errors import PolicyError, PortClosed, SandboxError, UsageError
from wardian.sandbox.network.requests import check_header, check_method, check_pattern
from wardian.sandbox.network.rules import parse_rule
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


def test_every_preset_that_the_hint_names_can_be_read() -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.preset("nosuch")
    for name in (caught.value.hint or "").removeprefix("presets: ").split(", "):
        assert Policy.preset(name)


def test_a_pool_with_an_interpreter_as_its_hints_write_it() -> None:
    with Pool(ready=1) as pool:
        assert refused(lambda: pool.run_python(code="1")) == 'Pool(python="python3")'
    assert refused(lambda: Pool(preload=["json"])) == 'python="python3"'
    text = refused(lambda: Pool(python="python3", preload="json"))
    assert text == 'preload=["json", "numpy"]'
    with Pool(ready=1, python="python3", preload=["json"]) as pool:
        hint = refused(lambda: pool.run_python(""))
        assert hint == "its path inside, or code=…"
        assert pool.run_python(code="import json; print(json.dumps(1))").stdout == b"1\n"


def test_a_network_by_name_is_asked_about() -> None:
    hint = refused(lambda: Sandbox.create(on_connect=lambda asked: Answer.DENY))
    assert hint == 'Policy.default().but(network="names")'
    policy = Policy.default().but(network="names")
    with Sandbox.create(policy, on_connect=lambda asked: Answer.DENY) as sandbox:
        assert sandbox.run(["true"]).ok


def test_a_fresh_sandbox_names_what_only_a_living_one_has() -> None:
    with Sandbox.create(fresh=True) as sandbox:
        assert (
            refused(lambda: sandbox.connect(80)) == "omit fresh=True, and use the backend wardian"
        )
        hint = refused(lambda: sandbox.files.write("/tmp/a", b"a"))
        assert hint == "write to /work, which is there between runs"
        sandbox.files.write("/work/a", b"a")
        assert sandbox.run(["cat", "/work/a"]).stdout == b"a"
    with Sandbox.create() as sandbox:
        sandbox.files.write("/tmp/a", b"a")
        assert refused(lambda: sandbox.files.rename("/tmp/a", "/work/a")) == (
            "read it there, and write it here"
        )
        sandbox.files.write("/work/a", sandbox.files.read("/tmp/a"))
        assert sandbox.run(["cat", "/work/a"]).stdout == b"a"


def test_what_a_policy_allows_is_taken_from_a_result() -> None:
    policy = Policy.default()
    assert refused(lambda: policy.allowing("x")) == "pass what result.refusals holds"  # type: ignore[arg-type]
    with Sandbox.create(policy.with_limits(memory="64M"), fresh=True) as sandbox:
        result = sandbox.run(["python3", "-c", "b'x' * (200 << 20)"])
    assert policy.with_limits(memory="64M").allowing(*result.refusals)


def test_a_rule_in_force_can_be_withdrawn() -> None:
    policy = Policy.default().but(network="names", allow_hosts=("api.example.com",))
    with Sandbox.create(policy) as sandbox:
        hint = refused(lambda: sandbox.network.withdraw("other.example.com"))
        assert hint == "rules in force: api.example.com"
        sandbox.network.withdraw(hint.removeprefix("rules in force: "))
        assert sandbox.network.rules == ()


@pytest.mark.parametrize(
    ("check", "wrong", "hint"),
    [
        (check_method, "G E T", "such as GET, POST"),
        (check_pattern, "v1", "such as /v1/items, /v1/items/* or /v1/**"),
        (check_header, "Host", 'such as "Authorization"'),
    ],
)
def test_what_a_rule_for_requests_may_name(
    check: Callable[[str], object], wrong: str, hint: str
) -> None:
    assert refused(lambda: check(wrong)) == hint
    for right in hint.removeprefix("such as ").replace(" or ", ", ").replace('"', "").split(", "):
        check(right)


def test_the_forms_of_a_rule() -> None:
    hint = refused(lambda: parse_rule("a..b"))
    assert hint == "write NAME, *.NAME, ADDRESS or ADDRESS/BITS, each with :PORT,PORT or without"
    for rule in ("api.example.com", "*.example.com", "10.0.0.1", "10.0.0.0/8"):
        assert parse_rule(rule)
        assert parse_rule(f"{rule}:443,8080")


def fill(sandbox: Sandbox) -> None:
    for _ in range(20):
        sandbox.run(["sh", "-c", "head -c 60M /dev/zero > /tmp/$$"])


def test_a_sandbox_that_met_its_limit_is_made_anew() -> None:
    policy = Policy.default().with_limits(memory="64M")
    with Sandbox.create(policy) as sandbox:
        with pytest.raises(SandboxError) as caught:
            fill(sandbox)
        assert caught.value.hint == "make a new one"
    with Sandbox.create(policy) as sandbox:
        assert sandbox.run(["true"]).ok
