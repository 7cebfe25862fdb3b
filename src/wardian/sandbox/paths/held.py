"""A directory that stays the one it was when it was opened, whatever its name leads to later."""

from __future__ import annotations

import os

from wardian.descriptors import LISTABLE, PLACE


class Held:
    """A descriptor of a directory, closed with this object. ``path`` leads to what is open."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    @classmethod
    def named(cls, path: str, option: str) -> Held:
        """What a path leads to now. Raises OSError, and UsageError for a link that a guest may have
        left on the way."""
        from wardian.sandbox.paths.named import open_real, trusted_path

        return cls(open_real(trusted_path(path, option, missing_ok=False), PLACE))

    @classmethod
    def below(cls, parent: int, name: str) -> Held:
        """A directory of an open one. Raises OSError, also for a link."""
        return cls(os.open(name, PLACE, dir_fd=parent))

    @property
    def path(self) -> str:
        """By this name, this process finds it and nothing else."""
        return f"/proc/self/fd/{self.fd}"

    def listable(self) -> int:
        """A descriptor to list it, the caller's own. Raises OSError."""
        return os.open(".", LISTABLE, dir_fd=self.fd)

    def close(self) -> None:
        """Safe to call twice."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.close()
