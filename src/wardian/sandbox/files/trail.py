"""Going down a tree and up again with one descriptor, however deep it is. A directory that is moved
meanwhile leads nowhere else: going up ends at the directory that was left, or fails."""

from __future__ import annotations

import errno
import os

from wardian.descriptors import LISTABLE
from wardian.sandbox.paths.removal import Identity, identity


class Trail:
    """Where one is below a directory, and the way back. Owns its descriptor."""

    def __init__(self, fd: int) -> None:
        self.here = fd
        self._above: list[Identity] = []

    @property
    def depth(self) -> int:
        """How many directories are above, up to the first."""
        return len(self._above)

    def down(self, below: int) -> None:
        """Go to a directory in this one, which is open as ``below``, and belongs to the trail from
        now on."""
        try:
            self._above.append(identity(self.here))
        except BaseException:
            os.close(below)
            raise
        os.close(self.here)
        self.here = below

    def up(self) -> None:
        """Go back to the directory above. Raises OSError, ESTALE if this one was moved away."""
        parent = os.open("..", LISTABLE, dir_fd=self.here)
        os.close(self.here)
        self.here = parent
        if identity(parent) != self._above.pop():
            raise OSError(errno.ESTALE, "it was moved while it was being read")

    def restart(self, fd: int) -> None:
        """Begin again at the first directory, which is open as ``fd``."""
        self.close()
        self.here = fd
        self._above.clear()

    def close(self) -> None:
        """Safe to call twice."""
        fd, self.here = self.here, -1
        if fd >= 0:
            os.close(fd)
