"""Real servers in the small internet: ssh, PostgreSQL, Redis. Each listens on every address there,
and is one process that ends with the internet."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.network.internet import REACHED

SSH, POSTGRES, REDIS = 2022, 5433, 6380


class RealServer(NamedTuple):
    """A command that stays, and the port at which it answers; ``account`` is who it runs as."""

    account: tuple[str, ...]
    command: tuple[str, ...]
    port: int

    @property
    def argv(self) -> tuple[str, ...]:
        """It ends with whoever starts it; a change of user would forget that."""
        return (*self.account, "setpriv", "--pdeathsig=KILL", *self.command)


def needed(name: str, *places: str) -> str:
    """The path of a server's program, or a skip that says what is missing."""
    found = shutil.which(name) or next((p for one in places for p in glob.glob(one)), None)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def account(root_becomes: str) -> tuple[str, tuple[str, ...]]:
    """Whom a server runs as, and the words that make it so: another user for root, and for a user
    who is root of a namespace only, that user again."""
    if os.geteuid() == 0:
        words = ("setpriv", f"--reuid={root_becomes}", f"--regid={root_becomes}", "--clear-groups")
        return root_becomes, words
    uid, gid = os.getuid(), os.getgid()
    words = ("unshare", "--user", f"--map-user={uid}", f"--map-group={gid}")
    return pwd.getpwuid(uid).pw_name, words


def sshd(directory: Path) -> RealServer:
    """Keys for it and for a client, ``id``; who logs in is the user whom it runs as."""
    program = needed("sshd", "/usr/sbin/sshd")
    place = directory / "ssh"
    place.mkdir()
    for name in ("host", "id"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place / name]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    (place / "greeting").write_text(f"{REACHED}\n")
    user, words = account("root")
    (place / "user").write_text(user)
    settings = {
        "Port": SSH,
        "HostKey": place / "host",
        "AuthorizedKeysFile": place / "id.pub",
        "PidFile": "none",
        "UsePAM": "no",
        "StrictModes": "no",
        "PermitRootLogin": "yes",
        "PasswordAuthentication": "no",
        "Subsystem": "sftp internal-sftp",
    }
    (place / "config").write_text("".join(f"{k} {v}\n" for k, v in settings.items()))
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", 0o755, exist_ok=True)  # as its own service does
        words = ()
    return RealServer(words, (program, "-D", "-e", "-f", str(place / "config")), SSH)


def postgres(directory: Path) -> RealServer:
    """A new cluster that trusts everybody."""
    newest = "/usr/lib/postgresql/*/bin/"
    program, initdb = needed("postgres", newest + "postgres"), needed("initdb", newest + "initdb")
    user, words = account("postgres")
    place = Path(tempfile.mkdtemp(prefix="wardian-postgres-"))  # where that user can get to
    (directory / "elsewhere").write_text(str(place))
    shutil.chown(place, user)
    command = [*words, initdb, "-D", place, "-A", "trust", "-U", "tester", "--no-sync"]
    subprocess.run(command, check=True, capture_output=True, cwd="/")
    with open(place / "pg_hba.conf", "a") as file:
        file.write("host all all all trust\n")
    settings = ("listen_addresses=*", "unix_socket_directories=", "fsync=off")
    options = [word for one in settings for word in ("-c", one)]
    return RealServer(words, (program, "-D", str(place), "-p", str(POSTGRES), *options), POSTGRES)


def redis(directory: Path) -> RealServer:
    """Empty, and nothing of it is kept."""
    program = needed("redis-server")
    place = directory / "redis"
    place.mkdir()
    options = {"port": REDIS, "bind": "* -::*", "protected-mode": "no", "save": "", "dir": place}
    words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
    return RealServer((), (program, *words), REDIS)


SERVERS = {"sshd": sshd, "postgres": postgres, "redis": redis}


def clean(directory: Path) -> None:
    """What a server has elsewhere, once it has ended."""
    if (directory / "elsewhere").exists():
        shutil.rmtree((directory / "elsewhere").read_text())
