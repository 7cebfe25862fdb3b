"""How much a refusal matters is decided from what was asked for, and no guest can make it less."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import MakeSandbox
from tests.refusals.scene import SEEING, Scene, standing_scene
from tests.refusals.test_causes import populate_home
from tests.refusals.test_walls import by_command
from wardian import Policy, Refusal, Result, Sandbox, Weight
from wardian.sandbox.refusals.ranking import is_routine, is_setting, weighed
from wardian.sandbox.root.layout import layout
from wardian.sandbox.run.result import Allow, Caller

LOOKS = ("read", "list", "stat", "watch")
CPUS = "/sys/devices/system/cpu"


def weight(kind: str, action: str, target: str, *, exit_code: int = 0) -> str:
    refusal = Refusal(kind, action, target, Caller(2, "x"), "not shared with the run")
    (one,) = weighed(Result(("x",), exit_code, "exited", refusals=(refusal,))).refusals
    return one.weight


@pytest.mark.parametrize(
    ("action", "target"),
    [
        ("read", f"{CPUS}/online"),
        ("list", "/sys/devices/system/node"),
        ("stat", "~/.local/lib/python3.11/site-packages"),
        ("stat", "~/.config"),  # above ~/.config/git
        ("read", "~/.gitconfig"),
        ("read", "/etc/resolv.conf"),
        ("create", "/usr/lib/python3/dist-packages/x/__pycache__"),
        ("write", "/proc/self/coredump_filter"),
        ("create", "~/.npm/_cacache/content-v2"),
        ("create", "/var/cache"),
        ("write", "/var/cache/fontconfig/x-le64.cache-8"),
    ],
)
def test_what_programs_try_as_a_matter_of_course_is_routine(action: str, target: str) -> None:
    assert weight("file", action, target) == "routine"


@pytest.mark.parametrize(
    ("kind", "action", "target"),
    [
        # changes, executions and connections at places where looking is routine
        ("file", "write", "/sys/fs/cgroup/release_agent"),
        ("file", "create", f"{CPUS}/x"),
        ("file", "write", "~/.bashrc"),
        ("file", "create", "~/.bashrc"),
        ("file", "rename", "~/.gitconfig"),
        ("file", "delete", "~/.config/git/config"),
        ("file", "chmod", "/etc/profile"),
        ("file", "create", "~/.local/lib/python3.11/site-packages/x.pth"),
        ("file", "execute", "~/.local/bin/tool"),
        ("file", "link", "/etc/ld.so.preload"),
        ("file", "create", "/etc/ld.so.preload"),
        ("file", "write", "/usr/lib/python3/__pycache__/os.cpython-311.pyc"),
        ("file", "delete", "/usr/lib/python3/__pycache__"),
        ("file", "execute", "~/.npm/_cacache/x"),
        ("file", "create", "/var/cache/apt"),
        ("file", "create", "/var/cache/fontconfig/x"),
        ("file", "delete", "/var/cache/fontconfig/x"),
        ("syscall", "ioctl", "ioctl(0, TIOCSTI)"),
        ("syscall", "ptrace", "ptrace(VT_GETSTATE)"),
        ("network", "connect", "unix:/run/systemd/userdb/io.systemd.Multiplexer"),
        ("network", "connect", "unix:/run/nscd/socket"),
        # what identifies the host or its owner, or opens a door
        ("file", "read", "/etc/machine-id"),
        ("file", "read", "/sys/class/dmi/id/product_uuid"),
        ("file", "read", "/sys/class/net/eth0/address"),
        ("file", "stat", "~/.netrc"),
        ("file", "read", "~/.npmrc"),
        ("file", "read", "~/.ssh/config"),
        ("file", "stat", "~/.aws/credentials"),
        ("file", "read", "~/.config"),
        ("file", "read", "/etc/shadow"),
        # names that only begin alike
        ("file", "read", "/etc/perl5-secrets"),
        ("file", "read", "/sys/devices/system/cpu-x"),
        ("file", "read", "~/.gitconfig.bak"),
        ("syscall", "ptrace", "/etc/perl"),
        ("process", "signal", "pid 1"),
        ("limit", "memory", "64M"),
    ],
)
def test_an_attack_at_a_harmless_place_is_notable(kind: str, action: str, target: str) -> None:
    assert weight(kind, action, target) == "notable"


ANY = st.text(max_size=20)
PLACES = st.sampled_from((*layout().routine, *layout().settings))


@given(
    PLACES, ANY, st.sampled_from(("write", "execute", "delete", "rename", "link", "chmod", "bind"))
)
def test_only_looks_are_routine_because_of_their_place(place: str, more: str, action: str) -> None:
    target = f"{place}/{more}"
    refusal = Refusal("file", action, target, Caller(2, "git"), "")
    allowed = target.startswith(("~/.npm/_cacache", "/var/cache/fontconfig"))
    assert allowed or not (is_routine(refusal) or is_setting(refusal))


@given(
    ANY, ANY, st.integers(1, 9), st.floats(0, 9), st.sampled_from(("file", "network", "syscall"))
)
def test_who_asks_how_often_and_when_changes_no_weight(
    command: str, reason: str, count: int, time_s: float, kind: str
) -> None:
    for target in (f"{CPUS}/online", "~/.aws/credentials"):
        refusal = Refusal(kind, "read", target, Caller(2, command), reason, count, time_s)
        (one,) = weighed(Result(("x",), 0, "exited", refusals=(refusal,))).refusals
        assert one.weight == weight(kind, "read", target)


def test_a_lock_that_the_caller_could_take_and_a_call_that_asks() -> None:
    allow = Allow("--write /var/cache/fontconfig/x", "")
    lock = Refusal("file", "write", "/var/cache/fontconfig/x", Caller(2, "x"), "", allow=allow)
    assert not is_routine(lock)
    assert weight("syscall", "ioctl", "ioctl(1, VT_GETSTATE)") == "routine"


def test_a_failed_run_has_a_cause_and_settings_are_one_only_alone() -> None:
    setting = Refusal("file", "read", "~/.gitconfig", Caller(2, "git"), "")
    other = Refusal("file", "read", "/srv/x", Caller(2, "git"), "")
    routine = Refusal("file", "read", f"{CPUS}/online", Caller(2, "git"), "")

    def weights(*refusals: Refusal, exit_code: int = 1) -> list[str]:
        result = weighed(Result(("x",), exit_code, "exited", refusals=refusals))
        return [one.weight for one in result.refusals]

    assert weights(setting, other, routine) == ["routine", "cause", "routine"]
    assert weights(setting, routine) == ["cause", "routine"]
    assert weights(setting, other, exit_code=0) == ["routine", "notable"]
    assert weights(routine) == ["routine"]
    assert set(get_args(Weight)) == {"cause", "notable", "routine"}


# In earnest


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with standing_scene(tmp_path_factory.mktemp("scene")) as standing:
        yield standing


def weights_of(there: dict[str, str], script: str) -> dict[str, str]:
    """What `bash -c` was refused: target → weight. It succeeds."""
    populate_home(Path(there["HOME"]))
    document = by_command(there, list(SEEING), ["bash", "-c", f"{script}; exit 0"])
    found: dict[str, str] = {}
    for one in document["refusals"]:  # the same place may be looked at and changed
        found[one["target"]] = min(found.get(one["target"], "routine"), one["weight"])
    return found


def printed(there: dict[str, str], script: str, *options: str) -> str:
    """Standard error of `wardian exec`, of a run that succeeds and prints nothing itself."""
    populate_home(Path(there["HOME"]))
    words = [sys.executable, "-P", "-m", "wardian", "exec", *SEEING, *options, "--"]
    done = subprocess.run(
        [*words, "bash", "-c", f"{{ {script}; }} 2>/dev/null; exit 0"],
        cwd=there["CWD"],
        env={**os.environ, "HOME": there["HOME"]},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stderr


@pytest.mark.parametrize(
    "script",
    [
        "cat {secret}",
        "(exec -a git cat {secret})",
        "cat ~/.gitconfig {secret} ~/.bashrc",
        "mkdir -p ~/.config/git && ln -s {secret} ~/.config/git/config && cat ~/.config/git/config",
        "mkdir -p ~/.local && ln -s {folder} ~/.local/lib && cat ~/.local/lib/f",
        "mkdir -p ~/.vim && cat ~/.vim/../../..{secret}",
        "cd ~ && mkdir .terminfo && cat .terminfo/../../..{secret}",
        "cat /proc/self/root{secret}",
    ],
)
def test_no_name_makes_a_secret_routine(scene: Scene, script: str) -> None:
    there = scene.reset("@CWD@", "@HOME@", "@OUT@")
    secret, folder = f"{there['OUT']}/f", there["OUT"]
    found = weights_of(there, script.format(secret=secret, folder=folder))
    assert found.get(secret) == "notable", found
    assert "blocked (-v for details)" in printed(there, script.format(secret=secret, folder=folder))


def test_changes_where_looks_are_routine_are_reported_after_a_success(scene: Scene) -> None:
    there = scene.reset("@CWD@", "@HOME@")
    script = f"echo 1 > {CPUS}/online; echo x > /etc/bash.bashrc; cat {CPUS}/online"
    found = weights_of(there, script)
    if Path(CPUS, "online").exists():
        assert found[f"{CPUS}/online"] == "notable"
    assert "blocked" in printed(there, script)


def test_a_flood_of_routine_refusals_hides_no_other(scene: Scene) -> None:
    """However many there are, a secret is listed, or counted as not recorded and printed so."""
    there = scene.reset("@CWD@", "@HOME@", "@OUT@")
    home, secret = Path(there["HOME"]), f"{there['OUT']}/f"
    populate_home(home)
    many = home / ".vim" / "many"
    many.mkdir(parents=True)
    for number in range(3000):
        (many / str(number)).touch()
    code = (
        "import os\n"
        "for n in range(3000): os.path.exists(os.path.expanduser(f'~/.vim/many/{n}'))\n"
        f"try: open({secret!r})\nexcept OSError: pass\n"
    )
    with_flood = by_command(there, list(SEEING), ["/usr/bin/python3", "-I", "-S", "-c", code])
    listed = {one["target"]: one["weight"] for one in with_flood["refusals"]}
    assert listed.get(secret) == "notable" or with_flood["refusals_dropped"] > 0, len(listed)
    shown = printed(there, f'/usr/bin/python3 -I -S -c "{code}"')
    assert "blocked" in shown, shown


def test_routine_refusals_are_printed_with_vv_alone(scene: Scene) -> None:
    there = scene.reset("@CWD@", "@HOME@")
    script = "cat ~/.vimrc"
    assert weights_of(there, script) == {"~/.vimrc": "routine"}
    assert printed(there, script) == ""
    assert "vimrc" not in printed(there, script, "-v")
    assert "~/.vimrc" in printed(there, script, "-vv")
    assert "~/.vimrc" in printed(there, script, "-v", "-v")


def test_a_result_of_the_api_has_weights(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    there = scene.reset("@CWD@", "@HOME@", "@OUT@")
    populate_home(Path(there["HOME"]))
    monkeypatch.setenv("HOME", there["HOME"])
    with Sandbox(Policy.default().but(explain=True)) as sandbox:
        failed = sandbox.run(["cat", f"{there['OUT']}/f"])
        fine = sandbox.run(["sh", "-c", f"cat {there['OUT']}/f ~/.vimrc; true"])
    assert [one.weight for one in failed.likely_causes] == ["cause"]
    assert {one.target: one.weight for one in fine.refusals} == {
        f"{there['OUT']}/f": "notable",
        "~/.vimrc": "routine",
    }


def test_harmless_files_that_programs_look_for_are_there(make_sandbox: MakeSandbox) -> None:
    read = make_sandbox(Policy.default()).run(["cat", "/etc/os-release", "/etc/locale.alias"])
    there = [path for path in ("/etc/os-release", "/etc/locale.alias") if Path(path).exists()]
    assert there
    assert all(Path(path).read_bytes() in read.stdout for path in there), read.stderr
