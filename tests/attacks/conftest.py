"""The callers, and the scene on the host that attacks aim at."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.callers import Caller, staged

Scene = dict[str, str]


@pytest.fixture(scope="session")
def stage() -> Iterator[Path]:
    with staged() as path:
        yield path


@pytest.fixture(scope="session")
def _callers(stage: Path) -> Iterator[dict[str, Caller]]:
    made: dict[str, Caller] = {}
    yield made
    for caller in made.values():
        caller.close()


# They leave walls out, to show that it is these that hold: as before, in a sandbox of its own.
_WITHOUT_WALLS = {"assert_harmful", "assert_each_wall_holds"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every attack is carried out twice: alone, and as the second command of a living sandbox whose
    first one was hostile (hostile.py)."""
    no_living_sandbox = "landlock" in metafunc.module.__name__
    if (
        "caller" in metafunc.fixturenames
        and not no_living_sandbox
        and not (_WITHOUT_WALLS & set(metafunc.function.__code__.co_names))
    ):
        metafunc.fixturenames.append("moment")
        metafunc.parametrize("moment", ["alone", "second"], indirect=True)


@pytest.fixture
def moment(request: pytest.FixtureRequest) -> str:
    """Whether an attack is ``alone`` or comes ``second``."""
    return str(getattr(request, "param", "alone"))


@pytest.fixture
def caller(
    request: pytest.FixtureRequest, stage: Path, _callers: dict[str, Caller], moment: str
) -> Caller:
    """The user whose name the test is parametrised with."""
    name = request.param
    if name not in _callers:
        _callers[name] = Caller(name, stage)
    _callers[name].living = moment == "second"
    return _callers[name]


@pytest.fixture
def alone() -> Iterator[None]:
    """No other flood of these tests runs at the same time: they look at the machine as a whole."""
    with open(__file__) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def _scenes() -> Iterator[dict[str, Host]]:
    made: dict[str, Host] = {}
    yield made
    for host in made.values():
        host.close()


@pytest.fixture
def scene(caller: Caller, _scenes: dict[str, Host]) -> Scene:
    """Names of things on the host: files, sockets, a process; all of them the caller's."""
    if caller.name not in _scenes:
        _scenes[caller.name] = Host(caller)
    return _scenes[caller.name].names


class Host:
    """What the host has to lose, made once for each caller."""

    def __init__(self, caller: Caller) -> None:
        home = caller.directory()
        self._sockets: list[socket.socket] = []
        self.names = {
            "HOME": str(home),
            "OPEN": self._file(caller, home / "open", 0o644),
            "CLOSED": self._file(caller, home / "closed", 0o600),
            "SHARE": self._share(caller),
            "WORK": str(caller.directory()),
            "PORT": self._listen(socket.AF_INET, ("127.0.0.1", 0)),
            "ABSTRACT": self._listen(socket.AF_UNIX, f"\0attack-{os.getpid()}-{caller.name}"),
            "PATH_SOCKET": self._listen(socket.AF_UNIX, str(home / "socket")),
            "HOSTNAME": socket.gethostname(),
            "STAGE": str(caller.stage),
        }
        os.chmod(home / "socket", 0o777)  # noqa: S103 - nothing but the wall keeps the guest away
        home.chmod(0o755)
        # In a group of its own: the tests' may be led from outside of this pid namespace, and
        # then has no number here.
        self._victim = caller.popen(["sleep", "600"], stdout=subprocess.DEVNULL, process_group=0)
        self.names["VICTIM"] = str(self._victim.pid)

    @staticmethod
    def _file(caller: Caller, path: Path, mode: int) -> str:
        path.write_text("the-hosts-secret\n")
        os.chown(path, caller.uid, caller.gid)
        path.chmod(mode)
        return str(path)

    def _share(self, caller: Caller) -> str:
        share = caller.directory()
        self._file(caller, share / "file", 0o644)
        (share / "link").symlink_to(f"{share}/../{share.name}/../../src")
        return str(share)

    def _listen(self, family: int, address: tuple[str, int] | str) -> str:
        made = socket.socket(family)
        made.bind(address)
        made.listen()
        self._sockets.append(made)
        bound = made.getsockname()
        return str(bound[1]) if family == socket.AF_INET else str(address).lstrip("\0")

    def close(self) -> None:
        self._victim.kill()
        self._victim.wait()
        for made in self._sockets:
            made.close()
