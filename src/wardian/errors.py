"""Everything wardian raises on purpose. A guest that fails is a result, never one of these.

WardianError
├── UsageError           the call itself is wrong                              exit 2
│   └── NotGrantedError  a case asks for more than the caller grants
├── NothingMatched       the call is right, and selects nothing                exit 3
├── InputError           a file that was given is wrong: where, and what was expected
│   ├── ConfigError      a nightly.toml                                        exit 2
│   ├── PolicyError      a policy file
│   ├── SettingsError    a settings file, the user's or a project's
│   └── SkillError       a skill, or an archive that claims to hold one
├── SandboxError         the sandbox could not be set up; nothing was run
│   ├── WallError        a wall that was asked for can't be put up here
│   ├── ShareError       a path that was to be shared can't be, or must not be
│   ├── BackendError     the backend is missing, or failed by itself
│   ├── PreparationError a skill's packages can't be had, or must not be
│   └── RootfsError      a root file system can't be packed or used
├── PortClosed           nothing listens there; also a ConnectionRefusedError
├── BuildError           a specimen can't be compiled
├── NotProven            nothing was learned that could be shown to hold       exit 1
├── FileError            a file of a sandbox can't be had; an OSError too, with ``errno``
│   ├── FileMissing      there is none (FileNotFoundError)
│   ├── FileExists       there is one already (FileExistsError)
│   ├── IsADirectory     a file was meant (IsADirectoryError)
│   ├── NotADirectory    a directory was meant, or stands on the way (NotADirectoryError)
│   ├── DirectoryNotEmpty
│   ├── FileDenied       by permissions, or it is read-only (PermissionError)
│   ├── FileTooLarge     more bytes or files than were asked for at most
│   └── NotARegularFile  a link, a pipe, a socket or a device
└── CommandFailed        a result that was not 0, for callers who asked by ``result.check()``

Each class owns the exit code that the command line ends with. ``hint`` says what to do about it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from wardian.sandbox.run.result import Result


class WardianError(Exception):
    """The root: ``str(error)`` is one sentence, ``error.hint`` the way out, if there is one."""

    exit_code = 125

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(WardianError):
    """The call itself is wrong: an argument that can't be read, options that contradict."""

    exit_code = 2


class NothingMatched(WardianError):  # noqa: N818 - reads as the fact it states
    """The call is right, and selects nothing."""

    exit_code = 3


class NotProven(WardianError):  # noqa: N818 - reads as the fact it states
    """No policy was learned under which the runs pass; nothing was written."""

    exit_code = 1


class InputError(WardianError):
    """A file that was given is wrong; ``line`` and ``column`` count from 1 and may be absent."""

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        self.path, self.line, self.column = path, line, column
        where = ":".join(str(part) for part in (path, line, column) if part is not None)
        super().__init__(f"{where}: {message}" if where else message, hint=hint)


class PolicyError(InputError):
    """A policy that can't be read, or asks for something that does not exist."""


class SkillError(InputError):
    """A skill that can't be loaded, or an archive that is not safe to open."""


class SandboxError(WardianError):
    """The sandbox could not be set up. Nothing was run."""


class WallError(SandboxError):
    """A wall that was asked for can't be put up on this host."""

    def __init__(self, wall: str, why: str, *, hint: str | None = None) -> None:
        self.wall, self.why = wall, why
        super().__init__(f"{wall}: {why}", hint=hint)


class ShareError(SandboxError):
    """A path that was to be shared with the guest can't be, or must not be."""

    def __init__(self, path: str, why: str, *, hint: str | None = None) -> None:
        self.path, self.why = path, why
        super().__init__(f"can't share {path}: {why}", hint=hint)


class BackendError(SandboxError):
    """The backend is missing, or failed by itself."""


class PortClosed(WardianError, ConnectionRefusedError):  # noqa: N818 - reads as the fact it states
    """Nothing listens on that port of the sandbox."""

    def __init__(self, port: int) -> None:
        self.port = port
        super().__init__(
            f"nothing listens on port {port} in this sandbox",
            hint="start a server there first; connect(port, wait_s=10) waits for it",
        )
        import errno

        self.errno = errno.ECONNREFUSED


class FileError(WardianError, OSError):
    """A file of a sandbox can't be had, or changed. ``path`` is the guest's, ``errno`` the kernel's
    reason."""

    def __init__(self, message: str, *, path: str, number: int, hint: str | None = None) -> None:
        OSError.__init__(self, number, message, path)
        self.path, self.hint = path, hint

    def __str__(self) -> str:
        return str(self.strerror)

    def __reduce__(self) -> tuple[object, ...]:
        return _file_error_again, (type(self), str(self), self.path, self.errno, self.hint)


def _file_error_again(
    kind: type[FileError], message: str, path: str, number: int, hint: str | None
) -> FileError:
    return kind(message, path=path, number=number, hint=hint)


class FileMissing(FileError, FileNotFoundError):  # noqa: N818 - reads as the fact it states
    """There is nothing of that name."""


class FileExists(FileError, FileExistsError):  # noqa: N818
    """Something has that name already."""


class IsADirectory(FileError, IsADirectoryError):  # noqa: N818
    """A directory, where a file was meant."""


class NotADirectory(FileError, NotADirectoryError):  # noqa: N818
    """No directory, where one was meant or stands on the way: a link is none."""


class DirectoryNotEmpty(FileError):  # noqa: N818
    """Something is in it."""


class FileDenied(FileError, PermissionError):  # noqa: N818
    """Its permissions, or a read-only place, stand in the way."""


class FileTooLarge(FileError):  # noqa: N818
    """It holds more than was asked for at most."""


class NotARegularFile(FileError):  # noqa: N818
    """A link, a pipe, a socket or a device: never opened."""


class CommandFailed(WardianError):  # noqa: N818 - reads as the fact it states
    """The guest's command did not exit with 0; ``result`` is all there is to know. ``stderr`` is
    the end of its standard error as harmless text, ``likely_causes`` the refusals that mattered;
    the message has both, cut short."""

    def __init__(self, result: Result, message: str, *, stderr: str = "") -> None:
        self.result = result
        self.exit_code = result.exit_code
        self.stderr = stderr
        self.likely_causes = result.likely_causes
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        return _failed_again, (self.result, str(self), self.stderr)


def _failed_again(result: Result, message: str, stderr: str) -> CommandFailed:
    return CommandFailed(result, message, stderr=stderr)
