"""While a guest exchanges names for links, nothing that cleans up or collects is led out."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

from tests.attacks.callers import LIBRARY, NAMES, PROGRAMS, Caller

LONGEST_S = 120
ROUNDS = 4
# Makes a sandbox in which a guest swaps, and a way to end it. {way} then decides.
SCENE = """
import gc, os, signal, sys, time
sys.path.insert(0, {library!r})
from wardian import Policy, Sandbox, Share, WardianError

# Nobody asks before each of the guest's calls: it swaps as fast as the kernel can.
policy = Policy.default()._replace(degrade=('notify',))
policy = policy.with_shares([Share({programs!r}, '/programs', False)])

def swapping(sandbox, kind='folder', pairs=32, processes=1):
    ready = []
    command = ['/programs/swap', {victim!r}, kind, str(pairs), str(processes)]
    process = sandbox.start(command, on_stdout=ready.append)
    deadline = time.monotonic() + 30
    while not ready and time.monotonic() < deadline:
        time.sleep(0.005)
    assert ready, process.wait(1)
    time.sleep(0.05)
    return process

def closed(sandbox):
    began = time.monotonic()
    try:
        sandbox.close()
    except (WardianError, OSError) as error:
        print('closing failed:', error, flush=True)
    assert time.monotonic() - began < 30
"""
WAYS = {
    "close": """
for _ in range({rounds}):
    sandbox = Sandbox.create(policy)
    process = swapping(sandbox)
    path = sandbox.work_path
    closed(sandbox)
    assert process.ended and process.wait().reason == 'killed'
    assert not os.path.exists(path), os.listdir(path)
""",
    "close-in-another-thread": """
import threading
for _ in range({rounds}):
    sandbox = Sandbox.create(policy)
    process = swapping(sandbox)
    thread = threading.Thread(target=closed, args=(sandbox,))
    thread.start(); thread.join()
    assert process.ended
""",
    "close-in-a-callback": """
for _ in range({rounds}):
    sandbox = Sandbox.create(policy)
    swapping(sandbox)
    path = sandbox.work_path
    sandbox.run(['echo', 'x'], on_stdout=lambda data: closed(sandbox))
    assert not os.path.exists(path)
""",
    "an-exception": """
for _ in range({rounds}):
    try:
        with Sandbox.create(policy) as sandbox:
            process = swapping(sandbox)
            raise ValueError
    except (ValueError, WardianError, OSError):
        pass
    assert process.ended
""",
    "garbage-collection": """
for _ in range({rounds}):
    sandbox = Sandbox.create(policy)
    process = swapping(sandbox)
    path = sandbox.work_path
    del sandbox
    gc.collect()
    time.sleep(0.1)
    process.kill(); process.wait(30)
    del process
    gc.collect()
    assert not os.path.exists(path)
""",
    "the-end-of-the-interpreter": """
sandbox = Sandbox.create(policy)
swapping(sandbox)
""",
    "sys.exit-in-a-thread-of-many": """
import threading
sandbox = Sandbox.create(policy)
for _ in range(3):
    swapping(sandbox)
sys.exit(0)
""",
}


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def victim_of(caller: Caller) -> Path:
    folder = caller.directory()
    victim = folder / "victim"
    victim.write_text("the-hosts-secret\n")
    os.chown(victim, caller.uid, caller.gid)
    victim.chmod(0o604)
    return victim


def scene(caller: Caller, victim: Path, way: str) -> subprocess.Popen[str]:
    code = SCENE.format(
        library=str(caller.stage / LIBRARY),
        programs=str(caller.stage / PROGRAMS),
        victim=str(victim),
    )
    code += way.format(rounds=ROUNDS, victim=str(victim), out=str(victim.parent / "out"))
    return caller.popen(
        [caller.python, "-I", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> str:
    said, _ = process.communicate(timeout=LONGEST_S)
    return said


def left(caller: Caller, before: set[str]) -> set[str]:
    return {name for name in os.listdir(caller.stage / "tmp") if "wardian" in name} - before


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("way", WAYS)
def test_a_file_of_the_hosts_keeps_its_mode_at(caller: Caller, way: str) -> None:
    victim = victim_of(caller)
    before = set(os.listdir(caller.stage / "tmp"))
    repeats = 1 if "range" in WAYS[way].split("swapping")[0] else ROUNDS
    for _ in range(repeats):
        process = scene(caller, victim, WAYS[way])
        said = finished(process)
        assert (process.returncode, said) == (0, ""), said
        assert mode_of(victim) == 0o604, f"{mode_of(victim):o}"
    assert victim.read_text() == "the-hosts-secret\n"
    assert left(caller, before) == set()


KILLED = """
sandbox = Sandbox.create(policy)
swapper = swapping(sandbox, 'folder', 16, 6)
sleeper = sandbox.start(['sleep', '600'])
time.sleep(0.3)
print(swapper.pid, flush=True)
os.kill(swapper.pid, signal.SIGSTOP)  # its guest goes on while the other's launcher cleans up
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.long
@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_a_file_of_the_hosts_keeps_its_mode_when_the_caller_is_killed(caller: Caller) -> None:
    """The launcher of one run cleans up while the guest of another still swaps."""
    victim = victim_of(caller)
    before = set(os.listdir(caller.stage / "tmp"))
    for _ in range(5):
        process = scene(caller, victim, KILLED)
        assert process.stdout is not None
        launcher = int(process.stdout.readline())
        process.wait(timeout=30)
        try:
            time.sleep(1.0)
            assert mode_of(victim) == 0o604, f"{mode_of(victim):o}"
        finally:
            os.kill(launcher, signal.SIGCONT)
            process.stdout.close()
    deadline = time.monotonic() + 20
    while left(caller, before) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left(caller, before) == set()
    assert mode_of(victim) == 0o604


COLLECTED = """
from wardian.runner import keeping, outputs
from wardian.errors import SandboxError
os.chmod({victim!r}, 0o204)  # what is collected is made readable, if it is the guest's own
with Sandbox.create(policy) as sandbox:
    for kind in ('file', 'folder'):
        process = swapping(sandbox, kind, 4, 3)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            out = {out!r} + os.urandom(4).hex()
            try:
                outputs.written(sandbox.work_path)
                keeping.keep(sandbox.work_path, out)
            except (OSError, SandboxError):
                pass  # it changes all the time
            for where, _, names in os.walk(out):
                for name in names:
                    path = os.path.join(where, name)
                    if not os.path.islink(path):
                        assert b'secret' not in open(path, 'rb').read(), path
        process.kill(); process.wait(30)
    sandbox.run(['sh', '-c', 'rm -rf /work/*; echo mine > own; chmod 0 own'])
    kept = keeping.keep(sandbox.work_path, {out!r} + '-own')
    assert open({out!r} + '-own/own').read() == 'mine\\n'
"""
READ = """
with Sandbox.create(policy) as sandbox:
    process = swapping(sandbox, 'folder', 4)
    end = time.monotonic() + 3
    while time.monotonic() < end:
        for i in range(4):
            for name in ('d%d', 'd%d/victim'):
                try:
                    assert b'secret' not in sandbox.files.read(name % i)
                except (OSError, WardianError):
                    pass
            try:
                sandbox.files.write('d%d/planted' % i, b'x')
                sandbox.files.write('d%d/deep/planted' % i, b'x')
            except (OSError, WardianError):
                pass
        sandbox.files.list()
    process.kill(); process.wait(30)
    sandbox.files.write('a/b', b'fine')
    assert sandbox.files.read('a/b') == b'fine'
"""


@pytest.mark.long
@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_what_is_collected_while_names_are_swapped_is_the_guests_own(caller: Caller) -> None:
    victim = victim_of(caller)
    process = scene(caller, victim, COLLECTED)
    said = finished(process)
    assert (process.returncode, said) == (0, ""), said
    assert mode_of(victim) == 0o204, f"{mode_of(victim):o}"


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_files_are_read_and_written_inside_while_names_are_swapped(caller: Caller) -> None:
    victim = victim_of(caller)
    process = scene(caller, victim.parent, READ)
    said = finished(process)
    assert (process.returncode, said) == (0, ""), said
    assert sorted(os.listdir(victim.parent)) == ["victim"]
    assert victim.stat().st_uid == caller.uid


# At the very moment when a mode is about to be changed, every name becomes a link: what a guest may
# bring about once in a while, each time.
MOMENT = """
import os, shutil, sys
sys.path.insert(0, {library!r})
from wardian.sandbox.paths.removal import remove_tree
from wardian.runner import keeping, outputs, rootfs
victim, root = {victim!r}, {root!r}
inside = swaps = 0

def swap(event, args):
    global inside, swaps
    if event != 'os.chmod' or inside:
        return
    inside = 1
    for where, folders, names in os.walk(root):
        for name in [*folders, *names]:
            path = os.path.join(where, name)
            if not os.path.islink(path) and not name.startswith('was-'):
                os.rename(path, os.path.join(where, 'was-' + name))
                os.symlink(victim, path)
                swaps += 1
        break
    inside = 0

os.mkdir(root)
for name in ('a', 'b'):
    os.makedirs(os.path.join(root, name, 'c'))
    os.chmod(os.path.join(root, name), 0o500)
    open(os.path.join(root, name + '-file'), 'w').close()
    os.chmod(os.path.join(root, name + '-file'), 0o200)
sys.addaudithook(swap)
try:
    {act}
except Exception:
    pass  # it may say that something has changed
print(swaps)
"""
ACTS = {
    "removing": "remove_tree(root)",
    "listing": "outputs.written(root)",
    "keeping": "keeping.keep(root, root + '-kept')",
    "checking a root file system": "rootfs._check('given', root)",
}


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("act", ACTS)
def test_a_mode_is_changed_of_what_was_looked_at_and_of_nothing_else(
    caller: Caller, act: str
) -> None:
    victim = victim_of(caller)
    victim.chmod(0o204)
    code = MOMENT.format(
        library=str(caller.stage / LIBRARY),
        victim=str(victim),
        root=str(victim.parent / "root"),
        act=ACTS[act],
    )
    done = caller.popen(
        [caller.python, "-I", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said = finished(done)
    assert said.strip().isdigit(), said
    assert int(said) > 0 or act != "removing"  # what can be read as it is stays as it is
    assert mode_of(victim) == 0o204, f"{mode_of(victim):o}"
