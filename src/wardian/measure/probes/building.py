"""Specimens in C: compiled in a sandbox, kept by content, whoever wrote them.

The compiler is the system's. It sees copies of the sources, has no network, and writes nothing but
the program, which is taken over by descriptor into a directory that no guest is given.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from wardian.errors import SandboxError, UsageError, WardianError
from wardian.homes import own_directory
from wardian.measure.probes.specimen import MAX_BYTES, Specimen, shipped
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.sandbox import Sandbox
from wardian.skills.reading import read_bytes, read_inside

FLAGS = ("-std=c17", "-Wall", "-Wextra", "-O1", "-D_GNU_SOURCE", "-pthread")
LIBRARIES = ("-ldl", "-lrt")
HELPERS = ("_runner_c.c", "_runner_c.h", "_runner_fuzz.h")
COMPILE_S = 120.0
MAX_PROGRAM_BYTES = 64 << 20
MAX_HEADERS = 100
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
SOURCES, OUTPUT = "src", "out"
HELPER_PLACE = "helpers"
LIMITS = {
    "time_s": COMPILE_S, "cpu_s": COMPILE_S, "memory_bytes": 2 << 30, "processes": 64,
    "disk_bytes": 256 << 20, "output_bytes": 1 << 20,
}  # fmt: skip

Files = Mapping[str, bytes]  # paths below the sources → content


class BuildError(WardianError):
    """The compiler refused a specimen."""


def compiler() -> str | None:
    """The C compiler below /usr, where no guest writes; None if there is none.

    CC may name another one there.
    """
    found = shutil.which(os.environ.get("CC") or "cc", path=SYSTEM_PATH)
    if found is None or not os.path.realpath(found).startswith("/usr/"):
        return None
    return found


def built(specimen: Specimen) -> str:
    """The executable of a specimen, compiled now if its content is new. Raises BuildError."""
    cc = compiler()
    if cc is None:
        raise BuildError("no C compiler is installed")
    helper = next((d for d in _helper_dirs(specimen) if _has_helpers(d)), None)
    if helper is None:
        raise BuildError(f"{HELPERS[0]} is not there")
    shared = {f"{HELPER_PLACE}/{name}": _source(helper, name) for name in HELPERS}
    flags = (*FLAGS, f"-I{HELPER_PLACE}", "-I.")
    # The helper is the same for all, and larger than most: it is compiled once.
    ready = compiled(cc, (*flags, "-c", f"{HELPER_PLACE}/{HELPERS[0]}"), shared)
    with open(ready, "rb") as file:
        made = {"_runner.o": file.read()}
    # __FILE__ names the specimen, so that it knows its ID when it is run alone.
    own = {specimen.path: _source(specimen.root, specimen.path), **_headers(specimen)}
    return compiled(cc, (*flags, specimen.path, "_runner.o", *LIBRARIES), {**shared, **own, **made})


def _headers(specimen: Specimen) -> dict[str, bytes]:
    """What a specimen may include besides: headers at the top of its tree, and beside it."""
    found: dict[str, bytes] = {}
    for folder in dict.fromkeys(("", os.path.dirname(specimen.path))):
        for name in sorted(os.listdir(os.path.join(specimen.root, folder))):
            if name.endswith(".h") and name not in HELPERS:
                path = os.path.join(folder, name)
                found[path] = _source(specimen.root, path)
    if len(found) > MAX_HEADERS:
        raise BuildError(f"more than {MAX_HEADERS} headers beside it")
    return found


def compiled(cc: str, words: Sequence[str], files: Files) -> str:
    """What the compiler makes of ``words``, kept by the content of the files and the words.

    Raises BuildError.
    """
    folder = _cache()
    name = _digest(cc, words, files)
    place = os.path.join(folder, name)
    if _is_kept(place):
        return place
    program = _compile(cc, words, files)
    temporary = f"{place}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(temporary, flags, 0o755), "wb") as file:
            file.write(program)
        os.replace(temporary, place)
    except OSError as error:
        raise _not_kept(error) from None
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)
    return place


def _compile(cc: str, words: Sequence[str], files: Files) -> bytes:
    policy = Policy.default().with_limits(**LIMITS).with_env({"TMPDIR": "/tmp", "LC_ALL": "C"})  # noqa: S108
    try:
        with Sandbox(policy) as sandbox:
            for path, content in files.items():
                sandbox.files.write(f"{SOURCES}/{path}", content)
            command = [cc, "-o", f"/work/{OUTPUT}", *words]
            done = sandbox.run(command, cwd=SOURCES, timeout_s=COMPILE_S)
            if done.reason == "time limit":
                raise BuildError(f"the compiler did not end in {COMPILE_S:g} s")
            if done.exit_code != 0:
                said = done.stderr.decode("utf-8", "replace")
                raise BuildError(f"it does not compile: {_first_error(said or done.reason)}")
            return read_bytes(Path(sandbox.work_held.path, OUTPUT), MAX_PROGRAM_BYTES)
    except (SandboxError, UsageError) as error:
        raise BuildError(f"it can't be compiled in a sandbox: {error}", hint=error.hint) from None
    except OSError as error:
        why = error.strerror or str(error)
        raise BuildError(f"the compiler left no program: {why.lower()}") from None


# The cache


def _cache() -> str:
    folder = os.path.join(own_directory("cache"), "probes")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        about = os.lstat(folder)
    except OSError as error:
        raise _not_kept(error) from None
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
        raise BuildError(f"{folder} is not a directory of yours")
    if about.st_mode & 0o022:
        os.chmod(folder, 0o700, follow_symlinks=True)
    return folder


def _is_kept(place: str) -> bool:
    """A file of ours that nobody else may write; never what a link points to."""
    try:
        about = os.lstat(place)
    except OSError:
        return False
    ours = stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid()
    return ours and not about.st_mode & 0o022 and about.st_nlink == 1


def _not_kept(error: OSError) -> BuildError:
    why = (error.strerror or "").lower()
    return BuildError(f"compiled specimens can't be kept in {error.filename}: {why}")


def _digest(cc: str, words: Sequence[str], files: Files) -> str:
    hashed = hashlib.sha256(repr((cc, platform.machine(), tuple(words))).encode())
    for path, content in sorted(files.items()):
        hashed.update(path.encode("utf-8", "surrogateescape") + b"\0")
        hashed.update(hashlib.sha256(content).digest())
    return hashed.hexdigest()[:32]


# Sources


def _helper_dirs(specimen: Specimen) -> tuple[str, str]:
    return specimen.root, os.path.realpath(shipped("probes"))


def _has_helpers(directory: str) -> bool:
    return all(os.path.exists(os.path.join(directory, name)) for name in HELPERS)


def _source(root: str, path: str) -> bytes:
    """Raises BuildError for what is no ordinary file, or lies elsewhere by a link."""
    try:
        return read_inside(root, path, MAX_BYTES)
    except OSError as error:
        raise BuildError(f"{path}: {error.strerror or error}") from None


def _first_error(text: str) -> str:
    lines = [line for line in text.splitlines() if "error" in line] or text.splitlines() or ["?"]
    return lines[0].strip()[:300]
