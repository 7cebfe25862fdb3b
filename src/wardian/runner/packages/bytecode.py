"""Bytecode of an environment's modules, made when it is used again: parsed in a sandbox that can
write nowhere, and put into the environment by wardian, where every guest can only read it."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Sequence

from wardian.descriptors import FOLDER, open_below
from wardian.errors import WardianError
from wardian.runner.packages import cabinet, venv
from wardian.runner.packages.rooms import compiling
from wardian.runner.packages.tools import compilers
from wardian.runner.packages.wheels import Receiver

BYTECODE = "bytecode"
SECONDS = 3.0  # of one run that waits for it
UNFINISHED = 3  # how ``inside/compile.py`` ends then
_PLACE = re.compile(r"((?:[^/]+/)*)__pycache__/([^/]+)\.[a-z]+-\d+\.pyc")


def ensure(digest: str, path: str, base: venv.BasePython, modules: Sequence[str]) -> None:
    """Compile these modules and what they import, unless that was done before; at later uses, the
    rest of the environment. It only saves time, so whatever goes wrong is left at that: Python
    compiles for itself."""
    known = cabinet.read_record(digest, BYTECODE) or {}
    done = known.get("modules")
    missing = sorted(set(modules) - set(done if isinstance(done, list) else ()))
    whole = known.get("whole") is True
    if not missing and whole:
        return
    try:
        silent = cabinet.locked(f"{BYTECODE}-{digest}", lambda _: None)
        preparing = cabinet.locked(cabinet.PREPARING, lambda _: None, shared=True)
        with silent, preparing:
            whole = _compile(digest, path, base, missing)
    except (OSError, WardianError):
        whole = True
    done = sorted({*modules, *(done if isinstance(done, list) else ())})
    cabinet.write_record(digest, {"modules": done, "whole": whole}, BYTECODE)


def _compile(digest: str, path: str, base: venv.BasePython, roots: Sequence[str]) -> bool:
    """Whether nothing is left to be compiled. Without ``roots``, everything is."""
    from wardian.sandbox.sandbox import Sandbox

    site = os.path.join(path, "lib", base.named, "site-packages")
    scratch = cabinet.path_of("scratch", f"{BYTECODE}-{digest}")
    cabinet.discard(scratch)
    with cabinet.drawer("scratch", f"{BYTECODE}-{digest}") as root:
        try:
            receiver = Receiver(root, BYTECODE)
            shares, command = compilers(base)
            plan = {"site": site, "roots": list(roots), "seconds": SECONDS}
            with Sandbox(compiling(path, shares).policy, private_work=True) as sandbox:
                result = sandbox.run(
                    command,
                    input=json.dumps(plan).encode(),
                    on_stdout=receiver.take,
                    on_stderr=lambda _: None,
                )
            receiver.refuse_fault()
            target = os.open(site, FOLDER)
            try:
                for name in receiver.complete():
                    _put(root, target, name)
            finally:
                os.close(target)
            return not roots and result.exit_code != UNFINISHED
        finally:
            cabinet.discard(scratch)


def _put(root: int, site: int, name: str) -> None:
    """Only beside a module that there is; whatever the sandbox printed."""
    found = _PLACE.fullmatch(name)
    if found is None:
        return
    folder, module = found.groups()
    try:
        here = open_below(os.dup(site), folder.rstrip("/").split("/") if folder else ())
    except OSError:
        return
    try:
        about = os.stat(f"{module}.py", dir_fd=here, follow_symlinks=False)
        if stat.S_ISREG(about.st_mode):
            place = name.rpartition("/")[2]
            try:
                cabinet.make_readable("__pycache__", here)
            except FileExistsError:
                pass
            os.rename(name, f"__pycache__/{place}", src_dir_fd=root, dst_dir_fd=here)
    except OSError:
        pass
    finally:
        os.close(here)
