"""The record of one run, written while it happens.

    DIR/ID/record.json     who, when, where, what; and the end in short
    DIR/ID/result.json     the result document, refusals included
    DIR/ID/policy.toml     the effective policy, without the values of variables
    DIR/ID/stdout, stderr  what the command printed, up to KEPT_BYTES of each

Readable by nobody but its owner. It is made before the run starts, so that a place that can't be
written to is found out in time; it is called ``ID.running`` until all of it is there. See
``journal`` for names, and ``masking`` for what never enters it.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Mapping

from wardian import __version__
from wardian.descriptors import FOLDER
from wardian.errors import SandboxError, SkillError, UsageError, WardianError
from wardian.observe import journal
from wardian.observe.evidence import Evidence, program_evidence
from wardian.observe.masking import Mask
from wardian.sandbox.backends import Copies
from wardian.sandbox.paths.named import open_directory, refuse_untrusted, was_shared, way_of
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.shares import is_below
from wardian.sandbox.run.result import Result

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any, NamedTuple
else:
    from wardian.values import NamedTuple

KEPT_BYTES = 8 << 20
NO_VALUE = "(not recorded)"
FAILED, INTERRUPTED = 125, 130
_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_ATTEMPTS = 16


class RecordedSkill(NamedTuple):
    """The skill of a run: ``folder`` is where its files are, ``path`` where it came from."""

    name: str
    path: str
    script: str
    folder: str
    requests: dict[str, Any] | None = None  # what it asks for, and whether that was granted


class RecordedRun(NamedTuple):
    """What is known of a run before it starts. ``given`` are variables of the caller's."""

    kind: str
    command: tuple[str, ...]
    policy: Policy
    backend: str = "wardian"
    cwd: str | None = None
    given: Mapping[str, str] = {}
    skill: RecordedSkill | None = None


class Recording:
    """A record being written from before a run to its ``end``, or until wardian must ``fail``."""

    def __init__(self, directory: str, run: RecordedRun) -> None:
        """Raises SandboxError if it can't be written there, UsageError if the run could."""
        self.directory = directory
        self._run, self._mask = run, Mask(run.given)
        self._fds: list[int] = []
        self._copies: list[int] = []
        self._real = _without_links(directory)
        refuse_reachable(self._real, run.policy)
        try:
            self._begin()
        except OSError as error:
            self._give_up()
            raise _unwritable(directory, error) from None
        except BaseException:
            self._give_up()
            raise

    def _begin(self) -> None:
        self._place = open_directory(self._real, make=0o700)
        self._fds.append(self._place)
        now_s = time.time()
        self.id = self._made(now_s)
        self._document = document(self.id, now_s, self._run, self._mask)
        self._write(journal.POLICY, shown_policy(self._run.policy).encode())
        self._write(journal.RECORD, _json(self._document))

    def _made(self, now_s: float) -> str:
        for _ in range(_ATTEMPTS):
            found = journal.new_id(now_s)
            try:
                os.mkdir(found + journal.RUNNING, 0o700, dir_fd=self._place)
            except FileExistsError:
                continue
            self._own = os.open(found + journal.RUNNING, FOLDER, dir_fd=self._place)
            self._fds.append(self._own)
            _lock(self._own)
            return found
        raise FileExistsError(17, "no name is free", self.directory)

    @property
    def path(self) -> str:
        """Where the record is to be found once it is complete."""
        return os.path.join(self.directory, self.id)

    def copies(self) -> Copies:
        """Where a run that prints for others is to put the same once more. Raises SandboxError.

        With nothing to be masked these are the record's own files, and what was printed survives
        if this process is killed; otherwise it stays in memory until it is masked.
        """
        try:
            for name in journal.OUTPUTS:
                if self._mask:
                    fd = os.memfd_create(name, os.MFD_CLOEXEC)
                else:
                    fd = os.open(name, _NEW_FILE, 0o600, dir_fd=self._own)
                self._fds.append(fd)
                self._copies.append(fd)
        except OSError as error:
            self._give_up()
            raise _unwritable(self.directory, error) from None
        return Copies(self._copies[0], self._copies[1], KEPT_BYTES)

    def end(self, result: Result, *, output: tuple[bytes, bytes] | None = None) -> str | None:
        """Complete it. Returns what went wrong, if anything did: the run itself stands.

        ``output`` is what was captured, where nothing was copied.
        """
        end = {
            "exit_code": result.exit_code,
            "reason": result.reason,
            "signal": result.signal,
            "wall_s": result.usage.wall_s,
            "refusals": len(result.refusals),
            "error": None,
        }
        try:
            fields = self._mask.document(result.document()) | {"reason": result.reason}
            self._write(journal.RESULT, _json(fields))
            self._keep(output, result)
            self._complete(end)
        except OSError as error:
            return _reason(error)
        finally:
            self._close()
        return None

    def fail(self, error: BaseException) -> None:
        """Complete it without a result: wardian itself failed, or was interrupted."""
        said = str(error) if isinstance(error, WardianError | OSError) else type(error).__name__
        end = {
            "exit_code": INTERRUPTED if isinstance(error, KeyboardInterrupt) else FAILED,
            "reason": "failed",
            "signal": None,
            "wall_s": 0.0,
            "refusals": 0,
            "error": self._mask.text(said),
        }
        try:
            self._keep(None, None)
            self._complete(end)
        except OSError:
            pass  # the error that led here is reported already
        finally:
            self._close()

    def _keep(self, output: tuple[bytes, bytes] | None, result: Result | None) -> None:
        if output is None and not self._copies:
            return
        usage = result.usage if result is not None else None
        totals = (usage.stdout_bytes, usage.stderr_bytes) if usage is not None else (None, None)
        kept: dict[str, Any] = {"captured": True, "why": ""}
        for i, (name, total) in enumerate(zip(journal.OUTPUTS, totals, strict=True)):
            if output is None and not self._mask:
                size = os.fstat(self._copies[i]).st_size  # it is there already
                cut = size != total
            else:
                data = os.pread(self._copies[i], KEPT_BYTES, 0) if output is None else output[i]
                cut = len(data) > KEPT_BYTES or total is None or len(data) < total
                data = self._mask.data(data[:KEPT_BYTES], cut=cut)
                self._write(name, data)
                size = len(data)
            kept[name] = {"bytes": total, "kept_bytes": size, "cut": cut}
        self._document["output"] = kept

    def _complete(self, end: dict[str, Any]) -> None:
        self._document |= {"ended": _stamp(time.time()), "end": end}
        new = journal.RECORD + journal.NEW
        self._write(new, _json(self._document))
        os.rename(new, journal.RECORD, src_dir_fd=self._own, dst_dir_fd=self._own)
        running = self.id + journal.RUNNING
        os.rename(running, self.id, src_dir_fd=self._place, dst_dir_fd=self._place)

    def _write(self, name: str, data: bytes) -> None:
        with open(os.open(name, _NEW_FILE, 0o600, dir_fd=self._own), "wb") as file:
            file.write(data)

    def _give_up(self) -> None:
        """Nothing was run: leave nothing behind."""
        if hasattr(self, "_own"):
            os.close(self._own)
            self._fds.remove(self._own)
            journal.remove(f"/proc/self/fd/{self._place}", self.id + journal.RUNNING)
        self._close()

    def _close(self) -> None:
        """With the descriptors goes the lock."""
        while self._fds:
            os.close(self._fds.pop())


def _without_links(directory: str) -> str:
    """Raises SandboxError, and UsageError if a link that a guest may have left leads there."""
    try:
        way = way_of(os.path.abspath(directory), missing_ok=True)
    except OSError as error:
        raise _unwritable(directory, error) from None
    refuse_untrusted(way, directory, "--record")
    return way.real


def refuse_reachable(directory: str, policy: Policy) -> None:
    """A record that the run itself could alter would be none. Raises UsageError."""
    real = os.path.realpath(directory)
    before = was_shared(real)
    if before is not None:
        raise UsageError(
            f"a guest could alter records in {directory}: {before} was shared for writing",
            hint="keep records in a directory that is not shared",
        )
    writable = [share.path for share in policy.shares if share.write]
    for path in (*writable, *((policy.work,) if policy.work is not None else ())):
        shared = os.path.realpath(path)
        if is_below(real, shared) or is_below(shared, real):
            raise UsageError(
                f"the run could alter its own record: {directory} lies in {path}, "
                "which it may write to"
                if is_below(real, shared)
                else f"the run could alter records: it may write to {path}, in {directory}",
                hint="keep records in a directory that is not shared",
            )


def document(record_id: str, now_s: float, run: RecordedRun, mask: Mask) -> dict[str, Any]:
    """record.json as it stands when the run starts."""
    machine = os.uname()
    passed = sorted(name for name in run.policy.pass_env if name in os.environ)
    program = program_evidence(run.command[0], run.policy, backend=run.backend, cwd=run.cwd)
    nothing = {"bytes": None, "kept_bytes": 0, "cut": True}
    return {
        "schema": journal.SCHEMA,
        "id": record_id,
        "started": _stamp(now_s),
        "ended": None,
        "kind": run.kind,
        "command": mask.document(run.command),
        "cwd": _here(),
        "who": {"uid": os.getuid(), "user": _user_name()},
        "host": {
            "name": machine.nodename,
            "kernel": f"{machine.sysname} {machine.release}",
            "machine": machine.machine,
        },
        "wardian": __version__,
        "backend": run.backend,
        "skill": _skill(run.skill),
        "program": _valid(program)._asdict(),
        "environment": {"passed": passed, "set": [name for name, _ in run.policy.set_env]},
        "policy_digest": run.policy.digest,
        "output": {
            "captured": False,
            "why": "the run has not ended"
            if run.backend != "host"
            else "the backend host hands its caller's own streams on",
            "stdout": nothing,
            "stderr": nothing,
        },
        "end": None,
    }


def shown_policy(policy: Policy) -> str:
    """policy.toml: what ``wardian policy show`` prints, but for the values of variables."""
    blank = tuple((name, NO_VALUE) for name, _ in policy.set_env)
    return f"# {policy.digest}\n" + policy._replace(set_env=blank).to_toml()


def _skill(skill: RecordedSkill | None) -> dict[str, Any] | None:
    if skill is None:
        return None
    from pathlib import Path

    from wardian.skills.digest import skill_digest

    digest, why = None, ""
    try:
        digest = skill_digest(Path(skill.folder))
    except SkillError as error:
        why = str(error)
    fields = {"name": skill.name, "path": skill.path, "script": skill.script}
    return {name: _text(value) for name, value in fields.items()} | {
        "digest": digest,
        "why": _text(why),
        "requests": skill.requests,
    }


def _valid(evidence: Evidence) -> Evidence:
    return evidence._replace(path=_text(evidence.path) if evidence.path is not None else None)


def _text(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _here() -> str | None:
    try:
        return _text(os.getcwd())
    except OSError:
        return None  # it was removed


def _user_name() -> str | None:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return None


def _lock(fd: int) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pass  # a file system without locks; a run under way then looks like an incomplete one


def _stamp(now_s: float) -> str:
    milliseconds = int(now_s * 1000)
    second = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000))
    return f"{second}.{milliseconds % 1000:03d}Z"


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _unwritable(directory: str, error: OSError) -> SandboxError:
    return SandboxError(
        f"the run can't be recorded in {directory}: {_reason(error)}",
        hint="name another directory with --record, or run without: --record none",
    )
