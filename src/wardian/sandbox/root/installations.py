"""Which installations of interpreters there are on this machine, known by where tools keep them and
never by what an environment says of itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping

from wardian.sandbox.paths.named import was_shared
from wardian.sandbox.root.shares import is_below

# What distinguishes an installation from any other directory that has a bin.
MARKS = (
    "pyvenv.cfg",
    "conda-meta",
    "lib/node_modules",
    "lib/python3*/os.py",
    "lib/ruby",
    "lib/R",
)
# What belongs to an environment. A project may be its own, with a .env and sources beside these.
ENVIRONMENT = (
    "pyvenv.cfg",
    "conda-meta",
    "bin",
    "lib",
    "lib64",
    "libexec",
    "include",
    "share",
    "etc",
    "ssl",
)
# What a runtime needs of a prefix that others use, too, like ~/.local.
RUNTIME = (
    "pyvenv.cfg",
    "lib/node_modules",
    "lib/python3*",
    "lib64/python3*",
    "lib/libpython3*",
    "lib/ruby",
    "lib/libruby*",
    "lib/R",
)
# Where only the system's owner installs.
SYSTEM = ("/usr", "/opt")
# Where tools keep the versions they install, below the home unless a variable says otherwise, and
# below that: each directory there is one.
KEPT = (
    ("PYENV_ROOT", ".pyenv", "versions"),
    ("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python", ""),
    ("CONDA_ROOT", "miniconda3", "envs"),
    ("", "miniforge3", "envs"),
    ("", "anaconda3", "envs"),
    ("NVM_DIR", ".nvm", "versions/node"),
)


def is_known(prefix: str, env: Mapping[str, str]) -> bool:
    """Is this real path an installation that is known without the environment that names it, and
    that no guest could have written to?"""
    if is_below(os.path.expanduser("~"), prefix) or prefix == "/" or not _looks_like_one(prefix):
        return False
    if was_shared(prefix) is not None:
        return False
    return any(is_below(prefix, place) for place in SYSTEM) or prefix in _kept(env)


def parts(program: str, prefix: str, env: Mapping[str, str]) -> list[str]:
    """What is shared for a program of an installation: all of one that a tool keeps, or that is the
    system's; of any other directory, what belongs to an environment or a runtime."""
    common = is_below(os.path.join(os.path.expanduser("~"), ".local/share"), prefix)
    real = os.path.realpath(prefix)
    if not common and (any(is_below(real, one) for one in SYSTEM) or real in _kept(env)):
        return [prefix]
    names = RUNTIME if common or not is_environment(prefix) else ENVIRONMENT
    found = [
        # A file that is a link says nothing of its own, and may show another. A directory that is
        # one leads to another part, or to the system's: a project that is its own environment may
        # bring any link along.
        path
        for name in names
        for path in matching(prefix, name)
        if not os.path.islink(path)
        or (os.path.isdir(path) and _is_part(os.path.realpath(path), real))
    ]
    return found if names is ENVIRONMENT else [program, *found]


def is_environment(prefix: str) -> bool:
    """Was it made for one purpose, by venv or conda?"""
    marks = ("pyvenv.cfg", "conda-meta")
    return any(os.path.lexists(os.path.join(prefix, mark)) for mark in marks)


def matching(prefix: str, pattern: str) -> list[str]:
    """What is there below ``prefix`` by a pattern whose names may end in ``*``. (glob loads re.)"""
    places = [prefix]
    for part in pattern.split("/"):
        if part.endswith("*"):
            places = [f"{p}/{name}" for p in places for name in _listed(p, part[:-1])]
        else:
            places = [f"{p}/{part}" for p in places]
    return [path for path in places if os.path.lexists(path)]


def _listed(folder: str, start: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.startswith(start))
    except OSError:
        return []


def bases(prefix: str, env: Mapping[str, str]) -> list[str]:
    """Known Pythons that the venv at ``prefix`` may have been made from: those of its version."""
    if not os.path.lexists(os.path.join(prefix, "pyvenv.cfg")):
        return []
    try:
        names = [n for n in os.listdir(os.path.join(prefix, "lib")) if n.startswith("python3")]
    except OSError:
        return []
    return [
        place
        for place in dict.fromkeys(_kept(env))
        if is_known(place, env)
        and any(os.path.isfile(os.path.join(place, "lib", name, "os.py")) for name in names)
    ]


def _looks_like_one(prefix: str) -> bool:
    return any(matching(prefix, mark) for mark in MARKS if mark != "pyvenv.cfg")


def _kept(env: Mapping[str, str]) -> Iterator[str]:
    """Real paths of installations, this Python's own among them."""
    yield os.path.realpath(sys.base_prefix)
    home = os.path.expanduser("~")
    for variable, default, below in KEPT:
        named = env.get(variable, "") if variable else ""
        root = named if named.startswith("/") else os.path.join(home, default)
        if below == "envs":
            yield os.path.realpath(root)
        place = os.path.realpath(os.path.join(root, below))
        try:
            names = sorted(os.listdir(place))
        except OSError:
            continue
        yield from (os.path.realpath(os.path.join(place, name)) for name in names)


def _is_part(target: str, prefix: str) -> bool:
    return is_below(target, prefix) or is_below(target, "/usr")
