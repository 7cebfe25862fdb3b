"""The host that the programs run into: real files in four places, and things that listen."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

from wardian.sandbox.host import this_host

# What it takes to see every look-up on this host.
SEEING = () if this_host().fuse else ("--explain",)
NAMES = {
    "utf8": "grün",
    "space": "sp ace",
    "quotes": 'it\'s "so" $HOME `x` *',
    "newline": "two\nlines",
    "tilde": "~",
    "colon": "a:b",
    "dash": "-rf",
    "long": "n" * 255,
}
LATIN = b"caf\xe9"
DEEP = "/".join(["d" * 200] * 15)


def populate(place: Path, outside: Path) -> None:
    """The same tree everywhere, made anew."""
    for entry in place.iterdir():  # the place itself stays: someone's working directory
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    for name in ("d/below", "empty", "colon:/inner", "shared/sub", "here"):
        (place / name).mkdir(parents=True)
    for name in ("f", "d/g", "colon:/x", "shared/s", "shared/sub/t", *NAMES.values()):
        (place / name).write_text("hello\n", encoding="ascii")
    Path(os.fsdecode(os.fsencode(place) + b"/" + LATIN)).write_bytes(b"hello\n")
    deep = place / "deep" / DEEP
    deep.mkdir(parents=True)
    (deep / "f").write_bytes(b"hello\n")
    (place / "run.sh").write_bytes(b"#!/bin/sh\nexit 0\n")
    (place / "run.sh").chmod(0o755)
    shutil.copy("/usr/bin/true", place / "program")
    links = {
        "link": "f", "chain1": "chain2", "chain2": "f", "dirlink": "d", "nowhere": "missing",
        "shared/out": f"{outside}/f", "shared/outdir": f"{outside}/d", "shared/up": "../f",
        "shared/hop": "out",
    }  # fmt: skip
    for name, target in links.items():
        (place / name).symlink_to(target)


class Scene:
    """Four places (below /tmp, outside it, a home, the caller's directory) and what listens."""

    def __init__(self, base: Path) -> None:
        self._places = {name: base / name.lower() for name in ("TMP", "HOME", "CWD")}
        self._places["OUT"] = _outside_tmp()
        self._sockets: list[socket.socket] = []

    def reset(self, *wanted: str) -> dict[str, str]:
        """What is named, as it was at first; what there is, by name."""
        for name, place in self._places.items():
            place.mkdir(exist_ok=True)
            if any(f"@{name}@" in text for text in wanted):
                populate(place, self._places["OUT"])
        places = {name: str(path) for name, path in self._places.items()}
        has = {"NODE": os.access("/usr/bin/node", os.X_OK), "SCOPES": this_host().landlock_abi >= 6}
        return (
            places
            | self._listening
            | {"NL": "\n", "DEEP": DEEP, "PID": str(os.getpid())}
            | {name: "yes" for name, there in has.items() if there}
        )

    def listen(self) -> None:
        """Open the host's doors, for as long as the scene stands."""
        found: dict[str, str] = {"ABSTRACT": f"wardian-test-{os.getpid()}"}
        for name, family, kind, address in (
            ("TCP", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            ("UDP", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            ("TCP6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
            ("OWN", socket.AF_INET, socket.SOCK_STREAM, (_own_address(), 0)),
            ("OWNUDP", socket.AF_INET, socket.SOCK_DGRAM, (_own_address(), 0)),
        ):
            with contextlib.suppress(OSError):
                found[name] = str(self._open(family, kind, address).getsockname()[1])
        if "OWN" in found:
            found["ADDRESS"] = _own_address()
        self._open(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{found['ABSTRACT']}")
        path = f"{self._doors()}/door"
        self._open(socket.AF_UNIX, socket.SOCK_STREAM, path)
        self._open(socket.AF_UNIX, socket.SOCK_DGRAM, f"{path}-log")
        self._listening = found | {"DOOR": path, "LOG": f"{path}-log"}

    def _doors(self) -> str:
        self._door_dir = tempfile.mkdtemp(prefix="wardian-doors-", dir=self._places["OUT"].parent)
        return self._door_dir

    def _open(self, family: int, kind: int, address: object) -> socket.socket:
        opened = socket.socket(family, kind)
        self._sockets.append(opened)
        opened.bind(address)
        if kind == socket.SOCK_STREAM:
            opened.listen(64)
        return opened

    def close(self) -> None:
        """Leave nothing behind."""
        for opened in self._sockets:
            opened.close()
        for place in (*self._places.values(), Path(self._door_dir)):
            shutil.rmtree(place, ignore_errors=True)


def _outside_tmp() -> Path:
    """A directory of our own where the sandbox has none: below /srv or the user's home."""
    home = pwd.getpwuid(os.getuid()).pw_dir
    for base in ("/srv", "/var/lib", home):
        if os.access(base, os.W_OK) and not base.startswith(("/tmp", "/home/user")):
            return Path(tempfile.mkdtemp(prefix="wardian-", dir=base))
    return Path(tempfile.mkdtemp(prefix="wardian-outside-"))


def _own_address() -> str:
    """This host's address on a network; asking for the way to it sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "no address"
        return str(probe.getsockname()[0])


@contextlib.contextmanager
def standing_scene(base: Path) -> Iterator[Scene]:
    """A scene that is gone afterwards."""
    scene = Scene(base)
    scene.listen()
    try:
        yield scene
    finally:
        scene.close()
