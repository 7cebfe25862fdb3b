"""The core specimens: enough of them, small, harmless on a bare host, answered as expected."""

from __future__ import annotations

import os
import shutil
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from wardian.measure.probes.artifact import Artifact
from wardian.measure.probes.expectations import default_profile, profile_names, read_profile
from wardian.measure.probes.running import measure
from wardian.measure.probes.specimen import capabilities, find_specimens, probes_dir
from wardian.measure.probes.witnesses import witnesses
from wardian.measure.target import target

pytestmark = pytest.mark.long

CORE = [one for one in find_specimens(probes_dir()) if one.kind == "core"]
DOMAINS = {
    "devices", "filesystem", "identity", "interpreters", "ipc", "kernel", "memory", "network",
    "process", "resources", "syscall", "terminal", "time",
}  # fmt: skip
# What is refused on the bare host, too: nothing leaks there either.
REFUSED_EVERYWHERE = {"process_inherited_descriptors"}
ANSWERS = {"allowed", "blocked", "unavailable"}
LANGUAGES = {one.id: one.language for one in CORE}
OF_SCRIPTS = ("perl", "ruby")  # which specimens in sh start


@pytest.fixture(scope="module")
def reported() -> Iterator[Mapping[str, str]]:
    """The variables that name things on the host for specimens."""
    with witnesses() as env:
        yield env


@pytest.fixture(scope="module")
def inside(reported: Mapping[str, str]) -> Sequence[Artifact]:
    """Every core specimen, measured once in wardian."""
    return measure(
        CORE, [target("wardian")], reported, profiles={"wardian": read_profile("wardian")}
    )


def test_capabilities_of_all_domains_are_asked_for() -> None:
    assert len(capabilities(CORE)) >= 130
    assert {one.domain for one in CORE} == DOMAINS
    assert {one.language for one in CORE} == {"python", "c", "sh", "bash", "node", "r"}


def test_several_languages_ask_for_the_same_capability() -> None:
    asked = defaultdict(set)
    for one in CORE:
        asked[one.capability].add(one.language)
    assert asked["filesystem_tmp_write"] == {"python", "c", "r", "sh", "node"}
    assert sum(len(languages) > 1 for languages in asked.values()) >= 10


def test_a_specimen_fits_on_a_screen() -> None:
    small = [one for one in CORE if one.domain != "syscall"]
    lines = {one.id: len(Path(one.source).read_text().splitlines()) for one in small}
    assert max(lines.values()) <= 50, max(lines, key=lambda name: lines[name])
    assert statistics.median(lines.values()) <= 25


def test_what_wardian_refuses_the_bare_host_would_do_for_root() -> None:
    """A specimen that is refused everywhere would measure nothing."""
    guest, root = read_profile("wardian").capability, read_profile("host-root").capability
    blocked = {name for name, one in guest.items() if one.expect == "blocked"}
    pointless = {name for name in blocked if name in root and root[name].expect == "blocked"}
    assert pointless == REFUSED_EVERYWHERE


def test_a_reason_is_one_sentence_about_the_world() -> None:
    for name in profile_names():
        for one in read_profile(name).capability.values():
            assert 10 < len(one.reason) <= 120, one.reason
            assert not one.reason.endswith("."), one.reason


def test_wardian_answers_every_specimen_as_expected(inside: Sequence[Artifact]) -> None:
    wrong = [
        (one.id, one.status, one.errno, one.detail, one.cause)
        for one in inside
        if one.status not in ("supported", "blocked_expected", "unavailable")
    ]
    assert wrong == []
    assert sum(one.status == "blocked_expected" for one in inside) >= 120
    assert sum(one.status == "supported" for one in inside) >= 150


def test_specimens_of_one_capability_agree(inside: Sequence[Artifact]) -> None:
    answers = defaultdict(set)
    for one in inside:
        if one.observed != "unavailable":
            answers[one.capability].add(one.observed)
    assert {name: found for name, found in answers.items() if len(found) > 1} == {}


def test_five_times_the_same_question_gives_five_times_the_same_answer(
    inside: Sequence[Artifact], reported: Mapping[str, str]
) -> None:
    first = {one.id: (one.observed, one.errno) for one in inside}
    for _ in range(4):
        again = measure(CORE, [target("wardian")], reported)
        assert {one.id: (one.observed, one.errno) for one in again} == first


def test_the_bare_host_answers_and_stays_as_it_was(
    reported: Mapping[str, str], tmp_path: Path
) -> None:
    """As root as well, who is allowed everything."""
    before = traces()
    expected = {"host": read_profile(default_profile("host"))}
    env = {**reported, "TMPDIR": str(tmp_path)}
    found = measure(CORE, [target("host")], env, profiles=expected)
    assert [(one.id, one.detail, one.cause) for one in found if one.observed not in ANSWERS] == []
    assert list(tmp_path.iterdir()) == []
    assert traces() == before
    lacking = {one.id: name for one in found if (name := absent(one)) is not None}
    wrong = [
        (one.id, one.status, one.errno, one.detail, one.cause)
        for one in found
        if one.cause and one.id not in lacking
    ]
    assert wrong == []
    if lacking:
        pytest.skip(f"not installed: {', '.join(sorted(set(lacking.values())))}")


def absent(one: Artifact) -> str | None:
    """The interpreter that a specimen wants and this machine lacks."""
    wanted = {"r": "Rscript", "node": "node", "bash": "bash"}.get(LANGUAGES[one.id])
    for name in (wanted, *OF_SCRIPTS):
        if name is None or shutil.which(name) is not None:
            continue
        if name == wanted or f"interpreters_{name}_" in one.capability:
            return name
    return None


def traces() -> dict[str, object]:
    """What a specimen that goes too far would change."""
    home = os.path.expanduser("~")
    names = {
        place: sorted(name for name in os.listdir(place) if "wardian-probe" in name)
        for place in ("/", "/usr", "/etc", "/var/tmp", "/dev/shm", home)
    }
    return {
        "names": names,
        "mounts": Path("/proc/self/mountinfo").read_text(),
        "host name": os.uname().nodename,
        "core pattern": Path("/proc/sys/kernel/core_pattern").read_text(),
        "swaps": Path("/proc/swaps").read_text().split()[::5],
        "mode of /tmp": os.stat("/tmp").st_mode,
        "limits": Path("/proc/self/limits").read_text(),
    }
