"""``files.watch``: what happens in a directory, as it happens, in a thread and on an event loop."""

from __future__ import annotations

import asyncio
import os
import threading
import time

import pytest

from wardian import Sandbox
from wardian.errors import FileMissing
from wardian.sandbox.files.values import FileChange
from wardian.sandbox.files.watching import Watch


def changes(watch: Watch, until: str) -> list[FileChange]:
    """All until something happens to that path."""
    found = []
    while (change := watch.wait(10)) is not None:
        found.append(change)
        if until in (change.path, change.to):
            return found
    raise AssertionError(f"{until}: nothing came: {found}")


def test_what_a_guest_does_is_seen(sandbox: Sandbox) -> None:
    sandbox.files.write("old", "x")
    with sandbox.files.watch() as watch:
        script = "touch new; echo x >> old; mv old moved; rm moved; mkdir d; touch d/below; touch z"
        assert sandbox.run(["sh", "-c", script]).ok
        found = changes(watch, "/work/z")
    kinds = [(one.kind, one.path, one.to, one.is_directory) for one in found]
    for wanted in (
        ("created", "/work/new", "", False),
        ("changed", "/work/old", "", False),
        ("moved", "/work/old", "/work/moved", False),
        ("removed", "/work/moved", "", False),
        ("created", "/work/d", "", True),
        ("created", "/work/z", "", False),
    ):
        assert wanted in kinds
    assert "/work/d/below" not in [one.path for one in found]
    assert kinds.index(("created", "/work/new", "", False)) < kinds.index(
        ("removed", "/work/moved", "", False)
    )


def test_directories_below_are_watched_as_they_come(sandbox: Sandbox) -> None:
    marks: list[str] = []

    def done(script: str) -> list[FileChange]:
        marks.append(f"z{len(marks)}")
        assert sandbox.run(["sh", "-c", f"{script}; touch {marks[-1]}"]).ok
        return changes(watch, f"/work/{marks[-1]}")

    sandbox.files.write("was/there/f", "x")
    with sandbox.files.watch(recursive=True) as watch:
        made = done("mkdir -p a/b/c; touch a/b/c/f was/there/h")
        created = [one.path for one in made if one.kind == "created"]
        for path in ("a", "a/b", "a/b/c", "a/b/c/f", "was/there/h"):
            assert created.count(f"/work/{path}") == 1
        moved = done("mv a to; echo x > to/b/c/g; rm to/b/c/f")
        assert FileChange("moved", "/work/a", "/work/to", True) in moved
        assert ("created", "/work/to/b/c/g") in [one[:2] for one in moved]
        assert ("removed", "/work/to/b/c/f") in [one[:2] for one in moved]
        away = done("mkdir n; mv n m; echo > m/f; mv to /tmp/")  # n is gone when it is looked at
        assert ("created", "/work/m/f") in [one[:2] for one in away]
        assert ("removed", "/work/to") in [one[:2] for one in away]


def test_it_ends_when_it_is_closed_by_another_thread(sandbox: Sandbox) -> None:
    watch = sandbox.files.watch()
    timer = threading.Timer(0.3, watch.close)
    timer.start()
    assert list(watch) == []
    timer.join()
    watch.close()
    assert watch.wait() is None
    assert list(watch) == []


def test_it_ends_with_the_directory(sandbox: Sandbox) -> None:
    sandbox.files.mkdir("d")
    watch = sandbox.files.watch("d")
    sandbox.files.remove("d")
    assert watch.wait(10) is None
    with sandbox.files.watch() as whole:
        sandbox.close()
        began = time.monotonic()
        for _ in whole:
            pass
        assert time.monotonic() - began < 10


def test_a_wait_has_an_end(sandbox: Sandbox) -> None:
    with sandbox.files.watch() as watch:
        began = time.monotonic()
        assert watch.wait(0.2) is None
        assert 0.1 < time.monotonic() - began < 5
        sandbox.files.write("f", "x")
        assert watch.wait(5) is not None


def test_on_an_event_loop(sandbox: Sandbox) -> None:
    async def main() -> list[FileChange]:
        found = []
        async with sandbox.files.watch(recursive=True) as watch:
            run = asyncio.create_task(
                sandbox.run_async(["sh", "-c", "sleep .1; mkdir d; echo > d/f"])
            )
            async for change in watch:
                found.append(change)
                if change.path == "/work/d/f":
                    break
            await run
            waiting = asyncio.create_task(drained(watch))
            await asyncio.sleep(0.2)
            watch.close()
            await asyncio.wait_for(waiting, 5)
        return found

    async def drained(watch: Watch) -> None:
        async for _ in watch:
            pass

    found = asyncio.run(asyncio.wait_for(main(), 30))
    assert found[0] == FileChange("created", "/work/d", is_directory=True)


def test_more_than_the_kernel_remembers_is_said(sandbox: Sandbox) -> None:
    with sandbox.files.watch() as watch:
        with open("/proc/sys/fs/inotify/max_queued_events", encoding="ascii") as setting:
            most = int(setting.read())
        if most > 200_000:
            pytest.skip("the kernel's queue of events is too long to fill here")
        script = f"import os\nfor i in range({most // 2 + 500}): os.mkdir('d'); os.rmdir('d')"
        assert sandbox.run(["python3", "-c", script]).ok
        kinds = set()
        while (change := watch.wait(0.5)) is not None:
            kinds.add(change.kind)
    assert kinds == {"created", "removed", "overflow"}


def test_nothing_is_left_open(sandbox: Sandbox) -> None:
    _ = sandbox.files
    before = os.listdir("/proc/self/fd")
    for _ in range(20):
        with sandbox.files.watch(recursive=True):
            pass
        with pytest.raises(FileMissing):
            sandbox.files.watch("nothing")
    assert os.listdir("/proc/self/fd") == before
