"""The package managers of this host, found by looking at files, and how they are shared with a
sandbox. None of them is started out here."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wardian.runner.packages.model import PreparationError
from wardian.runner.packages.rooms import TOOLS
from wardian.runner.packages.venv import BasePython
from wardian.sandbox.policy.policy import Share

LIBRARY = f"{TOOLS}/lib"
PIP_OLDEST = (22, 3)  # installs for another Python, and reports what it would install
_RUN = "import runpy, sys; sys.path.insert(0, {place!r}); runpy.run_module('pip', None, '__main__')"


class Tools(NamedTuple):
    """What prepares Python packages; paths are those inside. ``uv`` is None where pip does it."""

    base: BasePython
    uv: str | None
    pip_at: str
    shares: tuple[Share, ...]

    @property
    def name(self) -> str:
        return "pip" if self.uv is None else "uv"

    @property
    def pip_in_process(self) -> list[str]:
        """pip within the Python that the environment is for, which sees no other package."""
        return [self.base.python, "-I", "-S", "-c", _RUN.format(place=self.pip_at)]

    @property
    def reading(self) -> list[Share]:
        """What is needed to read an archive: that Python, and wardian's program for it."""
        return [*_shares_of(self.base), *_own(("unpack.py",))]

    def program(self, name: str) -> list[str]:
        """A program of ``inside``, by that Python."""
        return [self.base.python, "-I", "-S", f"{LIBRARY}/{name}.py"]


def tools_for(base: BasePython, env: Mapping[str, str]) -> Tools:
    """uv if it is on the PATH, else pip. Raises PreparationError if there is neither."""
    uv = uv_program(env)
    if uv is not None:
        at = uv if uv.startswith("/usr/") else f"{TOOLS}/uv"
        shares = [*_shares_of(base), *_fetchers(), *([Share(uv, at)] if at != uv else [])]
        return Tools(base, at, "", tuple(shares))
    found = pip_for(base)
    if found is None:
        raise PreparationError(
            "the script needs packages, and neither uv nor pip is installed",
            hint="install uv, or run without them: --no-deps",
        )
    return found


def pip_for(base: BasePython) -> Tools | None:
    """pip, or None if there is none that can do what is needed."""
    pip = find_pip(base)
    if pip is None:
        return None
    at = f"{LIBRARY}/{os.path.basename(pip)}"
    place = at if pip.endswith(".whl") else LIBRARY
    return Tools(base, None, place, (*_shares_of(base), *_fetchers(), Share(pip, at)))


def uv_program(env: Mapping[str, str]) -> str | None:
    """uv itself, whatever links or shims lead to it."""
    from wardian.sandbox.root.programs import find_program, on_path

    found = on_path("uv", env)
    if found is None:
        return None
    return os.path.realpath(find_program(found, env).path or found)


def find_pip(base: BasePython) -> str | None:
    """The folder of a pip, or a wheel of it: the base's own, wardian's, or the bundled one."""
    own = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    folders = [
        os.path.join(base.prefix, "lib", base.named, "site-packages"),
        os.path.join(base.prefix, "lib", "python3", "dist-packages"),
        os.path.join(sys.prefix, "lib", own, "site-packages"),
    ]
    for folder in folders:
        for about in glob.glob(os.path.join(glob.escape(folder), "pip-*.dist-info")):
            version = _version(os.path.basename(about))
            if version >= PIP_OLDEST and os.path.isfile(os.path.join(folder, "pip/__main__.py")):
                return os.path.realpath(os.path.join(folder, "pip"))
    bundled = os.path.join(glob.escape(base.prefix), "lib", base.named, "ensurepip/_bundled")
    wheels = [w for d in (bundled, "/usr/share/python-wheels") for w in glob.glob(f"{d}/pip-*.whl")]
    return next((w for w in wheels if _version(os.path.basename(w)) >= PIP_OLDEST), None)


def _version(name: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", name)[:2])


def _shares_of(base: BasePython) -> list[Share]:
    return [] if base.is_system else [Share(base.prefix, base.prefix)]


def compilers(base: BasePython) -> tuple[list[Share], list[str]]:
    """What compiles modules for a Python: what must be seen, and the command."""
    shares = [*_shares_of(base), *_own(("compile.py",))]
    return shares, [base.python, "-I", "-S", f"{LIBRARY}/compile.py"]


def _own(names: Sequence[str]) -> list[Share]:
    """wardian's programs for inside."""
    from wardian.runner.packages import inside

    folder = os.path.dirname(os.path.abspath(inside.__file__))
    return [Share(os.path.join(folder, name), f"{LIBRARY}/{name}") for name in names]


def _fetchers() -> list[Share]:
    """Those that fetch and describe, and ``packaging`` beside them."""
    import packaging

    programs = _own(("download.py", "simple.py", "explore.py", "backend.py"))
    return [*programs, Share(os.path.dirname(packaging.__file__), f"{LIBRARY}/packaging")]
