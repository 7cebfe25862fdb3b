"""Everything is measured anew, to the end; what goes wrong has a name, and no file is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.measure.probes.conftest import ROOT, Probe, Tree
from tests.measure.probes.reference import schema_of
from wardian.errors import InputError
from wardian.measure.outcome import GOOD, PROBE
from wardian.measure.probes import artifact
from wardian.measure.probes.running import measure
from wardian.measure.probes.specimen import find_specimens
from wardian.measure.probes.witnesses import witnesses
from wardian.measure.target import target

pytestmark = pytest.mark.long

KEPT = ("--artifacts", "artifacts")
BAD = {
    "crash": ("os.kill(os.getpid(), 11)", "crashed", "SIGSEGV"),
    "leave": ("os._exit(7)", "crashed", "exit code 7"),
    "hang": ("import time; time.sleep(60)", "timeout", "in time"),
    "quiet": ("os._exit(0)", "silent", "no observation"),
    "rubbish": ("open('observation.json', 'w').write('{'); os._exit(0)", "garbage", "no observ"),
    "other": (
        "open('observation.json', 'w').write('{\"schema\": \"x\"}'); os._exit(0)",
        "garbage",
        "`id`",
    ),
    "big": ("open('observation.json', 'w').write(' ' * 100000); os._exit(0)", "garbage", "more"),
    "pipe": ("os.mkfifo('observation.json'); os._exit(0)", "garbage", "no observation"),
    "folder": ("os.mkdir('observation.json'); os._exit(0)", "silent", "no observation"),
    "link": ("os.symlink('/etc/passwd', 'observation.json'); os._exit(0)", "silent", "no obs"),
    "bug": ("{}['x']", "error", "KeyError"),
    "refused": ("open('/nowhere/x')", "blocked_unexpected", "should be allowed"),
}


def plant(tree: Tree) -> None:
    for name, (body, _, _) in BAD.items():
        tree.python(name, body)
    tree.python("good", "return 'fine'")
    tree.python("last", "return 'fine too'")


def documents(directory: Path) -> dict[str, dict[str, Any]]:
    return {path.stem: json.loads(path.read_text()) for path in directory.glob("*.json")}


@pytest.mark.parametrize("sandbox", ["wardian", "host"])
def test_bad_probes_fail_the_run_each_time_and_the_others_still_run(
    tree: Tree, probe: Probe, tmp_path: Path, sandbox: str
) -> None:
    plant(tree)
    for _ in range(2):
        done = probe(
            "all", "--in", sandbox, "--probes", str(tree.path), "--timeout", "3s", "--json", *KEPT
        )
        assert done.returncode == 1, done.stderr
        found = documents(tmp_path / "here" / "artifacts" / sandbox)
        assert len(found) == len(BAD) + 2
        for name, (_, status, cause) in BAD.items():
            one = found[f"core__filesystem__{name}"]
            assert one["status"] == status, one
            assert cause in one["cause"], one
        for name in ("good", "last"):
            assert found[f"core__filesystem__{name}"]["status"] == "supported"
        reported = json.loads(done.stdout)
        assert {one["id"]: one["status"] for one in reported["results"]} == {
            name: one["status"] for name, one in found.items()
        }
        assert sum(reported["summary"].values()) == len(found)


def test_nothing_is_left_behind_unless_it_is_asked_for(
    tree: Tree, probe: Probe, tmp_path: Path
) -> None:
    name = tree.python("good", "return 'fine'")
    for args in (("run", name), ("all",)):
        done = probe(*args, "--probes", str(tree.path))
        assert done.returncode == 0, done.stderr
        assert "1 supported" in done.stderr
        assert list((tmp_path / "here").iterdir()) == []
    probe("run", name, "--probes", str(tree.path), *KEPT)
    assert set(documents(tmp_path / "here" / "artifacts" / "wardian")) == {name}


def test_a_run_without_anything_unexpected_ends_with_0(
    tree: Tree, probe: Probe, tmp_path: Path
) -> None:
    tree.python("good", "return 'fine'")
    tree.python("asked", "raise Unavailable('no such thing here')")
    tree.python("refused", "open('/nowhere/x')")
    profile = tmp_path / "mine.toml"
    profile.write_text(
        '[capability.filesystem_refused]\nexpect = "blocked"\nerrno = "ENOENT"\nreason = "gone"\n'
    )
    args = ("all", "--probes", str(tree.path), "--profile", str(profile), *KEPT)
    done = probe(*args)
    assert done.returncode == 0, done.stdout + done.stderr
    found = documents(tmp_path / "here" / "artifacts" / "wardian")
    assert found["core__filesystem__refused"]["status"] == "blocked_expected"
    assert found["core__filesystem__refused"]["reason"] == "gone"
    assert found["core__filesystem__asked"]["status"] == "unavailable"
    assert probe(*args, "--require-all").returncode == 1


def test_what_was_measured_before_is_never_believed(
    tree: Tree, probe: Probe, tmp_path: Path
) -> None:
    name = tree.python("moody", "return 'fine'")
    gone = tree.python("gone", "return 'fine'")
    args = ("all", "--probes", str(tree.path), *KEPT)
    assert probe(*args).returncode == 0
    tree.python("moody", "raise PermissionError(1, 'no')")
    (tree.path / "core/filesystem/gone.py").unlink()
    folder = tmp_path / "here" / "artifacts" / "wardian"
    (folder / "notes.json").write_text("{}")
    assert probe(*args).returncode == 1
    found = documents(folder)
    assert found[name]["status"] == "blocked_unexpected"
    assert found[name]["errno"] == "EPERM"
    assert gone not in found
    assert "notes" in found  # not ours


def test_artifacts_are_as_the_schema_says(tree: Tree, probe: Probe, tmp_path: Path) -> None:
    import jsonschema

    plant(tree)
    probe("all", "--in", "host,wardian", "--probes", str(tree.path), "--timeout", "3s", *KEPT)
    schema = schema_of("wardian.probe/1")
    count = 0
    for path in (tmp_path / "here" / "artifacts").glob("*/*.json"):
        document = json.loads(path.read_text())
        jsonschema.validate(document, schema)
        assert artifact.read(str(path)).document() == document
        count += 1
    assert count == 2 * (len(BAD) + 2)
    assert set(schema["properties"]["status"]["enum"]) == set(PROBE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"status": "fine"}, "`status`"),
        ({"errno": 13}, "`errno`"),
        ({"uid": True}, "`uid`"),
        ({"refusals": [1]}, "`refusals`"),
        ({"schema": "wardian.probe/9"}, "`schema`"),
        ({"detail": None}, "`detail`"),
    ],
)
def test_a_document_that_is_no_artifact_is_refused(
    tree: Tree, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    tree.python("good", "return 'fine'")
    specimens = find_specimens(str(tree.path))
    right = measure(specimens, [target("host")], {}, host_named=True)[0].document()
    assert artifact.check(right).document() == right
    path = tmp_path / "x.json"
    path.write_text(json.dumps(right | change))
    with pytest.raises(InputError, match=message):
        artifact.read(str(path))
    path.write_text(json.dumps({key: right[key] for key in right if key not in change}))
    with pytest.raises(InputError, match="missing"):
        artifact.read(str(path))


def test_a_c_specimen_is_compiled_once_and_kept_by_content(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tree.add(
        "native.c",
        '#define CAPABILITY "filesystem_native"\n#include "_runner_c.h"\n'
        'static void exercise(void) { allowed("one"); }\nPROBE(exercise)\n',
    )

    def run() -> artifact.Artifact:
        return measure(find_specimens(str(tree.path)), [target("wardian")], {})[0]

    assert run().detail == "one"
    place = tmp_path / "cache" / "wardian" / "probes"

    def kept() -> dict[str, int]:
        return {one.name: one.stat().st_mtime_ns for one in place.iterdir()}

    made = kept()
    assert len(made) == 2, "the specimen, and the helper that all share"
    assert run().detail == "one"
    assert kept() == made
    file.write_text(file.read_text().replace("one", "two"))
    assert run().detail == "two"
    assert len(kept()) == 3, "the helper is the same"
    file.write_text(file.read_text().replace("allowed", "no_such_function"))
    broken = run()
    assert (broken.status, "does not compile" in broken.cause) == ("not_run", True)


def test_a_language_that_is_not_installed_makes_a_probe_unavailable(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.python("good", "return 'fine'")
    tree.add(
        "native.c",
        '#define CAPABILITY "filesystem_native"\n#include "_runner_c.h"\n'
        'static void exercise(void) { allowed("one"); }\nPROBE(exercise)\n',
    )
    monkeypatch.setenv("CC", "no-such-compiler")
    good, native = measure(find_specimens(str(tree.path)), [target("wardian")], {})
    assert good.status == "supported"
    assert (native.status, native.observed) == ("unavailable", "unavailable")
    assert "compiler" in native.cause


def test_a_sandbox_that_can_not_be_set_up_is_reported_for_every_probe(tree: Tree) -> None:
    tree.python("good", "return 'fine'")
    usual = target("wardian")
    broken = usual._replace(policy=usual.policy.but(work="/nowhere/at/all"))
    found = measure(find_specimens(str(tree.path)), [broken], {})
    assert [one.status for one in found] == ["not_run"]
    assert "/nowhere/at/all" in found[0].cause


def test_each_specimen_has_a_work_directory_of_its_own(tree: Tree) -> None:
    body = "open('left-behind', 'x').close()\nreturn ' '.join(sorted(os.listdir('.')))"
    for name in ("one", "two", "three"):
        tree.python(name, body)
    for sandbox in ("wardian", "host"):
        found = measure(find_specimens(str(tree.path)), [target(sandbox)], {}, host_named=True)
        assert {one.detail.removeprefix(".probe ") for one in found} == {"left-behind"}


def test_a_limit_that_ends_the_run_is_an_answer(tree: Tree) -> None:
    tree.python("chatty", "print('x' * 100000)")
    usual = target("wardian")
    tight = usual._replace(policy=usual.policy.with_limits(output_bytes=1000))
    found = measure(find_specimens(str(tree.path)), [tight], {})[0]
    assert (found.observed, found.detail) == ("blocked", "the output limit ended the run")


WITNESSES = {
    "file": "return open(witness('FILE')).read()",
    "dir": (
        "path = witness('DIR') + f'/x{os.getpid()}'\nopen(path, 'x').close()\nos.unlink(path)\n"
        "return 'wardian witness'"
    ),
    "pid": "os.kill(int(witness('PID')), 0)\nreturn 'wardian witness'",
    "port": (
        "import socket\nwith socket.create_connection(('127.0.0.1', int(witness('PORT')))) as s:\n"
        "    return s.recv(100).decode()"
    ),
    "udp": (
        "import socket\nwith socket.socket(type=socket.SOCK_DGRAM) as s:\n"
        "    s.connect(('127.0.0.1', int(witness('UDP_PORT'))))\n    s.settimeout(5)\n"
        "    s.send(b'wardian witness')\n    return s.recv(100).decode()"
    ),
    "unix": (
        "import socket\nwith socket.socket(socket.AF_UNIX) as s:\n"
        "    s.connect(witness('SOCKET'))\n    return s.recv(100).decode()"
    ),
    "abstract": (
        "import socket\nwith socket.socket(socket.AF_UNIX) as s:\n"
        "    s.connect('\\0' + witness('ABSTRACT'))\n    return s.recv(100).decode()"
    ),
    "shm": (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "libc.shmat.restype = ctypes.c_void_p\n"
        "at = libc.shmat(int(witness('SHM')), None, 0o10000)\n"
        "if at in (None, ctypes.c_void_p(-1).value):\n"
        "    raise OSError(ctypes.get_errno(), 'shmat')\n"
        "return ctypes.string_at(at, 15).decode()"
    ),
}


def test_witnesses_are_reached_on_the_host_and_not_from_the_sandbox(tree: Tree) -> None:
    for name, body in WITNESSES.items():
        tree.python(name, body)
    with witnesses() as env:
        targets = [target("host"), target("wardian")]
        found = measure(find_specimens(str(tree.path)), targets, env, host_named=True)
    for one in found:
        if one.sandbox == "host":
            assert (one.observed, one.detail.strip()) == ("allowed", "wardian witness"), one
        else:
            assert one.observed == "blocked", one


def test_witnesses_leave_nothing_behind() -> None:
    with witnesses() as env:
        assert os.path.exists(env["PROBE_HOST_FILE"])
        os.kill(int(env["PROBE_HOST_PID"]), 0)
    assert not os.path.exists(env["PROBE_HOST_FILE"])
    with pytest.raises(ProcessLookupError):
        os.kill(int(env["PROBE_HOST_PID"]), 0)
    segments = Path("/proc/sysvipc/shm").read_text()
    assert f" {env['PROBE_HOST_SHM']} " not in segments


def test_what_a_killed_run_left_is_removed_by_the_next() -> None:
    code = (
        "import os, signal\nfrom wardian.measure.probes.witnesses import witnesses\n"
        "with witnesses() as env:\n    print(env['PROBE_HOST_FILE'], flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    left = done.stdout.strip()
    assert os.path.exists(left)
    with witnesses() as outer:
        assert not os.path.exists(left)
        with witnesses():
            assert os.path.exists(outer["PROBE_HOST_FILE"])


def test_the_shipped_examples_hold_in_every_language(probe: Probe) -> None:
    done = probe("run", "filesystem_tmp_write", "--in", "wardian,host", "--json")
    results = json.loads(done.stdout)["results"]
    assert len(results) >= 10
    for one in results:
        assert one["status"] in (*GOOD, "unavailable"), one


def test_a_specimen_runs_without_wardian_on_the_path(tmp_path: Path) -> None:
    file = ROOT / "probes/core/filesystem/tmp_write.py"
    done = subprocess.run(
        ["python3", "-S", file, "--output", tmp_path / "x.json"], check=False, timeout=60,
        env={"PATH": "/usr/bin:/bin"}, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0
    assert json.loads((tmp_path / "x.json").read_text())["observed"] == "allowed"
