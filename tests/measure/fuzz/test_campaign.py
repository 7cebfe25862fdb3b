"""Campaigns: what is the same is silent, what policy explains is counted, the rest is news."""

from __future__ import annotations

import errno
import functools
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command import COMMAND, environment
from tests.measure.probes.conftest import PROBES, Probe, by_hand
from tests.measure.probes.reference import schema_of
from wardian import Policy, Sandbox
from wardian.errors import InputError, UsageError
from wardian.measure.fuzz.campaign import Bounds
from wardian.measure.fuzz.compare import difference
from wardian.measure.fuzz.explain import BYPASS, Explainer
from wardian.measure.fuzz.rules import rules
from wardian.measure.fuzz.specimens import check_place, known_signatures
from wardian.measure.fuzz.state import SCHEMA, State, document, load, save
from wardian.measure.fuzz.wire import Behaviour, CallAnswer
from wardian.measure.probes.running import measure
from wardian.measure.probes.specimen import find_specimens
from wardian.measure.target import MakeSandbox, target
from wardian.sandbox.run import plan
from wardian.sandbox.run.filter import make_filter
from wardian.syscalls import filter as filters
from wardian.syscalls import table

from .conftest import ARCH, MakeCampaign, program

pytestmark = pytest.mark.long

Planted = Callable[[str, str], MakeSandbox]


def validate(data: dict[str, Any], schema: dict[str, Any]) -> None:
    """Against the schema in the documentation."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    jsonschema.validate(data, schema)


def quiet(state: State, seconds: float) -> None:
    """Nobody watches."""


def outcome(*results: int, files: str | None = None, ended: int = 0) -> Behaviour:
    """By hand."""
    reported = tuple(CallAnswer(result, b"", 0) for result in results)
    return Behaviour(2, 1, ended, len(results), reported, files)


# ---- what differs


def test_pids_and_addresses_are_no_difference_and_errnos_are() -> None:
    compare = functools.partial(difference, rules=rules(), arch=ARCH)
    ids = program(("getpid",), ("mmap", 0, 4096, 3, 0x22, -1, 0), ("getuid",))
    assert compare(ids, outcome(7, 0x7F00, 5), outcome(9, 0x8F00, 5)) is None
    found = compare(ids, outcome(7, -errno.EINVAL, 5), outcome(9, 0x8F00, 5))
    assert found is not None
    assert found.signature == "mmap result: EINVAL → ok"
    found = compare(ids, outcome(7, 1, 5), outcome(7, 1, 6))
    assert found is not None
    assert (found.name, found.host, found.sandbox) == ("getuid", "5", "6")


def test_ends_and_files_are_compared() -> None:
    compare = functools.partial(difference, rules=rules(), arch=ARCH)
    one = program(("getuid",))
    found = compare(one, outcome(5), outcome(5, ended=-31))
    assert found is not None
    assert (found.aspect, found.host, found.sandbox) == ("end", "exit 0", "SIGSYS")
    found = compare(one, outcome(5, files="100644 1 1 0 s/f \n"), outcome(5))
    assert found is not None
    assert (found.aspect, found.host, found.sandbox) == ("files", "changed", "as before")


# ---- what explains it


def test_what_the_table_refuses_is_explained_with_its_reason() -> None:
    explainer = Explainer("wardian", Policy.default(), rules(), ARCH)
    chmod = program(("fchmodat", -100, b"f", 0o4755))
    host, sandbox = outcome(0), outcome(-errno.EPERM)
    found = difference(chmod, host, sandbox, rules(), ARCH)
    assert found is not None
    why = explainer.explain(chmod, sandbox, found)
    assert why is not None
    assert why.wall == "seccomp"
    assert "set-user-ID" in why.reason
    # The same errno to a call that is not refused is not explained, nor is another errno.
    plain = program(("fchmodat", -100, b"f", 0o755))
    found = difference(plain, host, sandbox, rules(), ARCH)
    assert found is not None
    assert explainer.explain(plain, sandbox, found) is None
    found = difference(chmod, host, outcome(-errno.EIO), rules(), ARCH)
    assert found is not None
    assert explainer.explain(chmod, outcome(-errno.EIO), found) is None


def test_a_policy_that_denies_more_or_less_explains_more_or_less() -> None:
    denied = Explainer("wardian", Policy.default().but(deny_syscalls=("getuid",)), rules(), ARCH)
    one = program(("getuid",))
    assert denied.refusal(one, outcome(0), 0) == -errno.EPERM
    allowed = Explainer("wardian", Policy.default().but(allow_syscalls=("kcmp",)), rules(), ARCH)
    assert allowed.refusal(program(("kcmp", 0, 0, 0, 0, 0)), outcome(0), 0) is None
    elsewhere = Explainer("gvisor", Policy.default(), rules(), ARCH)
    assert elsewhere.refusal(program(("kcmp", 0, 0, 0, 0, 0)), outcome(0), 0) is None


def test_a_refused_call_that_goes_through_is_news_even_if_the_host_agrees() -> None:
    explainer = Explainer("wardian", Policy.default(), rules(), ARCH)
    found = explainer.bypass(program(("kcmp", 0, 0, 0, 0, 0)), outcome(0))
    assert found is not None
    assert (found.aspect, found.host, found.sandbox) == (BYPASS, "EPERM", "ok")
    assert explainer.bypass(program(("kcmp", 0, 0, 0, 0, 0)), outcome(-errno.EPERM)) is None


# ---- campaigns


def test_the_host_does_not_differ_from_itself(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign("host", seed=11)
    campaign.run(Bounds(programs=1200), quiet)
    state = campaign.state
    assert state.counts["programs"] == 1200
    assert state.news == {}
    assert state.explained == {}
    assert state.counts["same"] > 1100


def test_wardian_differs_only_where_its_policy_says_so(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign("wardian", seed=12)
    campaign.run(Bounds(programs=1600), quiet)
    state = campaign.state
    assert state.news == {}
    assert state.counts["explained"] > 20
    assert any(wall == "seccomp" for wall, _ in state.explained)
    assert sum(state.counts.values()) == 2 * state.counts["programs"] == 3200


def test_a_campaign_is_repeatable_and_resumable(
    make_campaign: MakeCampaign, tmp_path: Path
) -> None:
    whole = make_campaign(seed=13, calls=("identity", "metadata"))
    whole.run(Bounds(programs=500), quiet)
    first = make_campaign(seed=13, calls=("identity", "metadata"))
    path = str(tmp_path / "state.json")
    first.run(Bounds(programs=200), quiet, path)
    again = make_campaign(state=load(path))
    again.run(Bounds(programs=300), quiet, path)
    assert again.state.position == 500
    assert again.state.explained == whole.state.explained
    assert again.state.counts["explained"] == whole.state.counts["explained"]
    assert load(path).to_data() == again.state.to_data()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": "wardian.fuzz-state/1"}', "\x00"])
def test_a_state_that_can_not_be_read_is_reported(text: str, tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(InputError, match=r"state\.json"):
        load(str(tmp_path / "state.json"))
    with pytest.raises(UsageError):
        load(str(PROBES))


def test_a_state_is_saved_whole(tmp_path: Path) -> None:
    state = State("wardian", 3, ["getpid"])
    state.explained["seccomp", "a reason"] += 2
    save(state, str(tmp_path / "fuzz/state.json"))
    assert load(str(tmp_path / "fuzz")).to_data() == state.to_data()
    assert os.listdir(tmp_path / "fuzz") == ["state.json"]


# ---- a planted difference


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Planted:
    """``planted("lseek", "when arg2 != 4 else ENOTTY")``: makes sandboxes whose filter has this
    decision, while the table that everybody else reads stays as it is."""

    changing = threading.Lock()

    def make(name: str, decision: str) -> MakeSandbox:
        def create(policy: Policy, backend: str) -> Sandbox:
            sandbox = Sandbox.create(policy, backend=backend, fresh=True)
            row = table.lookup(name)
            filters._cache.clear()
            with changing, monkeypatch.context() as patch:  # specimens are measured in threads
                patch.setitem(table._loaded, name, table.Row((*row[:4], decision, *row[5:])))
                patch.setattr(plan, "_filter", make_filter)
                assert sandbox.run(["true"]).ok  # the filter is made for the first run
            filters._cache.clear()
            return sandbox

        return create

    return make


def test_a_wrong_errno_is_found_and_made_small(
    make_campaign: MakeCampaign, planted: Planted, tmp_path: Path
) -> None:
    maker = planted("lseek", "when arg2 != 3 else ENOTTY")
    campaign = make_campaign(seed=14, maker=maker)
    campaign.run(Bounds(programs=2400), quiet)
    news = list(campaign.state.news.values())
    assert news, campaign.state.counts
    validate(document(campaign.state, "probes", "state"), schema_of(SCHEMA))
    assert {one["signature"].split("(")[0] for one in news} == {"lseek"}
    for one in news:
        assert "ENOTTY" in one["signature"]
        assert len(one["program"]["calls"]) <= 2
        assert "SEEK_DATA" in one["host"][len(one["program"]["calls"]) - 1]


def test_news_is_a_specimen_that_shows_the_difference(
    make_campaign: MakeCampaign, planted: Planted, tmp_path: Path
) -> None:
    maker = planted("timerfd_gettime", "when arg0 == 77 else ENOTTY")
    campaign = make_campaign(seed=15, calls=("events",), maker=maker)
    campaign.run(Bounds(programs=800), quiet)
    root = tmp_path / "probes"
    found = find_specimens(str(root))
    assert found
    assert {one.capability for one in found} == {"process_timerfd_gettime_as_native"}
    assert all(one.summary.endswith(".") for one in found)
    name = "fuzz/process/process_timerfd_gettime_as_native/0001_"
    assert any(one.path.startswith(name) for one in found)
    right, wrong = target("wardian"), target("wardian")._replace(make=maker)
    for where, expected in (
        (target("host"), "allowed"),
        (right, "allowed"),
        (wrong, "blocked"),
    ):
        for artifact in measure(found, [where], {}, host_named=True):
            assert (artifact.specimen, artifact.observed) == (artifact.specimen, expected)
    # The same again is known, and nothing is written twice.
    before = sorted(path.name for path in root.rglob("*.c"))
    again = make_campaign(seed=15, calls=("events",), maker=maker)
    again.run(Bounds(programs=800), quiet)
    assert again.state.news == {}
    assert again.state.counts["known"] > 0
    assert sorted(path.name for path in root.rglob("*.c")) == before
    assert len(known_signatures(str(root))) == len(before)


def test_a_specimen_runs_by_hand(
    make_campaign: MakeCampaign, planted: Planted, tmp_path: Path
) -> None:
    campaign = make_campaign(seed=16, calls=("getpgid",), maker=planted("getpgid", "deny"))
    campaign.run(Bounds(programs=40), quiet)
    (file, *_) = (tmp_path / "probes").rglob("*.c")
    for helper in PROBES.glob("_runner*"):
        (tmp_path / "probes" / helper.name).write_bytes(helper.read_bytes())
    here = tmp_path / "here"
    here.mkdir()
    moved = tmp_path / "probes/a/b"
    moved.mkdir(parents=True)
    copy = moved / file.name.removesuffix(file.suffix)
    copy = copy.with_suffix(".c")
    copy.write_text(file.read_text())
    done = by_hand(copy, cwd=here)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["observed"] == "allowed"


def test_a_place_that_can_not_be_written_is_reported_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="can't be written"):
        check_place(str(tmp_path / "file/probes"))


# ---- the command


def test_the_command_shows_what_it_did_and_goes_on_where_it_stopped(
    probe: Probe, tmp_path: Path
) -> None:
    out = str(tmp_path / "specimens")
    options = ("--calls", "identity,fchmod", "--seed", "17", "--count", "150", "-o", out)
    done = probe("fuzz", *options, "--json")
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)
    assert (reported["schema"], reported["programs"], reported["seed"]) == (SCHEMA, 150, 17)
    assert reported["news"] == []
    validate(reported, schema_of(SCHEMA))
    more = probe("fuzz", "--resume", "artifacts/fuzz/wardian-17.json", "--count", "50", "-o", out)
    assert more.returncode == 0, more.stderr
    assert more.stdout.startswith("200 programs")
    assert "explained" in more.stdout
    assert not os.path.exists(out)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--calls", "nosuch"), 3, "no syscall and no group"),
        (("--in", "nosuch"), 2, "unknown sandbox"),
        (("--resume", "nowhere.json"), 125, "can't be read"),
        (("--resume", "x", "--seed", "1"), 2, "cannot be combined"),
        (("--count", "0"), 2, "count"),
        (("--out", "/dev/null/x"), 2, "can't be written"),
    ],
)
def test_a_wrong_call_is_reported(
    probe: Probe, tmp_path: Path, options: tuple[str, ...], code: int, message: str
) -> None:
    done = probe("fuzz", "-o", str(tmp_path / "x"), *options)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupt_leaves_a_state_that_is_true(tmp_path: Path) -> None:
    command = [*COMMAND, "probe", "fuzz", "--seconds", "120", "--seed", "18", "-o", "specimens"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment(),
    ) as running:  # fmt: skip
        path = tmp_path / "artifacts/fuzz/wardian-18.json"
        end = time.monotonic() + 60
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        out, reported = running.communicate(timeout=60)
    assert running.returncode == 130, reported
    assert "interrupted" in reported
    state = load(str(path))
    assert state.position == state.counts["programs"] > 0
    assert out.startswith(f"{state.position} programs")
