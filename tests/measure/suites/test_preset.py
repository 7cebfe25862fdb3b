"""The preset ``conformance`` is the default policy with more room, and no wall weaker."""

from __future__ import annotations

from pathlib import Path

import pytest

from wardian import Policy, Sandbox
from wardian.sandbox.policy.file import preset_names
from wardian.sandbox.policy.policy import Limits

pytestmark = pytest.mark.long


def test_only_limits_differ_from_the_default() -> None:
    default, conformance = Policy.default(), Policy.preset("conformance")
    assert "conformance" in preset_names()
    assert conformance != default
    assert conformance._replace(limits=Limits()) == default._replace(limits=Limits())


def test_every_limit_stands_and_gives_at_least_as_much_room() -> None:
    default, conformance = Policy.default(), Policy.preset("conformance")
    for name, value in default.limits._asdict().items():
        more = conformance.limits._asdict()[name]
        assert None not in (value, more), name
        assert more >= value, name


def test_the_same_walls_stand_in_a_run() -> None:
    def walls(policy: Policy) -> dict[str, tuple[bool, bool, bool]]:
        with Sandbox.create(policy) as sandbox:
            reported = sandbox.run(["true"]).check().protections
        return {one.name: (one.requested, one.available, one.enforced) for one in reported}

    assert walls(Policy.preset("conformance")) == walls(Policy.default())


def test_a_guest_sees_the_same_surroundings() -> None:
    """Its identity, rights, mounts, environment and filter, as the kernel reports them; but for the
    id that each run of root's has outside."""
    look = (
        "id; env | sort; cat /proc/self/status | grep -E 'Cap|NoNewPrivs|Seccomp|Uid|Gid|Groups';"
        "cut -d' ' -f4- /proc/self/mountinfo | sed 's/wardian-[^ ]*//;s/size=[0-9]*k//;"
        "s/nr_inodes=[0-9]*//;s/[ug]id=[0-9]*//g' | sort; ls /dev /etc /; ls /proc/self/ns"
    )

    def seen(policy: Policy) -> str:
        with Sandbox(policy, private_work=True) as sandbox:
            return sandbox.run(["sh", "-c", look]).check().text

    reported = seen(Policy.preset("conformance"))
    assert reported == seen(Policy.default())
    assert "NoNewPrivs:\t1" in reported


def test_what_is_open_is_said_by_name_and_nothing_else_differs() -> None:
    conformance, opened = Policy.preset("conformance"), Policy.preset("conformance-open")
    assert opened.allow_syscalls
    assert opened.but(allow_syscalls=()) == conformance
    page = (Path(__file__).parents[3] / "docs/suite.md").read_text()
    reported = page.partition("## The preset `conformance-open`")[2].partition("## ")[0]
    assert all(f"`{name}`" in reported for name in opened.allow_syscalls)


def test_only_the_open_one_lets_guests_nest_namespaces() -> None:
    for preset, allowed in (("conformance", False), ("conformance-open", True)):
        with Sandbox.create(Policy.preset(preset)) as sandbox:
            assert (sandbox.run(["unshare", "-U", "true"]).exit_code == 0) is allowed, preset
