"""A skill whose changes are kept with ``--out``: the guest has a real copy of it for writing, and
what it changed there goes to what it wrote. No link is followed on the way in or out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wardian.descriptors import unlink_in
from wardian.errors import SandboxError
from wardian.runner.keeping import copy_tree
from wardian.runner.outputs import open_folder, written
from wardian.runner.plugin import SKILL, skill_place
from wardian.sandbox.policy.policy import Share
from wardian.sandbox.workdir import WorkDir

if TYPE_CHECKING:
    from wardian.runner.invocation import Invocation
    from wardian.runner.location import Located

    Marks = tuple[int, int]  # inode, and the time of its last change, which no guest can set

NAMES = ("skill", "skill.changed", "skill.changed.by.this.run")  # the first that is free


class ChangedSkill:
    """One copy, gone with ``remove``."""

    def __init__(self, path: str) -> None:
        """Raises SandboxError."""
        self._copy = WorkDir(guests=False)
        try:
            copy_tree(path, self._copy.held.path, None)
        except OSError as error:
            self.remove()
            why = (error.strerror or "").lower()
            raise SandboxError(
                f"{path} can't be copied, so its changes can't be kept: {why}"
            ) from None
        self._before = self._marks()

    def in_place(self, call: Invocation, skill: Located) -> Invocation:
        """The call, with this copy at the skill's places."""
        places = dict.fromkeys((SKILL, skill_place(skill)))
        shares = [share for share in call.shares if share.at not in places]
        shares += [Share(self._copy.path, place, write=True) for place in places]
        return call._replace(shares=tuple(shares))

    def move_changes(self, work: int) -> None:
        """After the run: what is new or different, as a folder of the work directory. Raises
        SandboxError."""
        root = self._copy.held.path
        try:
            after = self._marks()
            for one in reversed(written(root)):
                self._drop(root, one.path, one.kind == "folder", after)
            if os.listdir(root):
                self._move(work)
        except OSError as error:
            why = (error.strerror or "").lower()
            raise SandboxError(f"the changes to the skill can't be kept: {why}") from None

    def remove(self) -> None:
        """Raises SandboxError."""
        self._copy.remove()

    def _marks(self) -> dict[str, Marks]:
        root, marks = self._copy.held.path, {}
        for one in written(root):
            if one.kind != "folder":
                parent, _, name = one.path.rpartition("/")
                fd = open_folder(root, parent)
                try:
                    status = os.stat(name, dir_fd=fd, follow_symlinks=False)
                finally:
                    os.close(fd)
                marks[one.path] = (status.st_ino, status.st_ctime_ns)
        return marks

    def _drop(self, root: str, path: str, is_folder: bool, after: dict[str, Marks]) -> None:
        """Remove what is as it was, and folders in which nothing else is left."""
        parent, _, name = path.rpartition("/")
        fd = open_folder(root, parent)
        try:
            if is_folder:
                try:
                    os.rmdir(name, dir_fd=fd)
                except OSError:
                    pass  # not empty
            elif path in after and after[path] == self._before.get(path):
                unlink_in(fd, name)
        finally:
            os.close(fd)

    def _move(self, work: int) -> None:
        made = [name for name in NAMES if not os.path.lexists(f"/proc/self/fd/{work}/{name}")]
        if not made:
            raise SandboxError("the changes to the skill can't be kept: no free name")
        os.mkdir(made[0], dir_fd=work)
        target = os.open(made[0], os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=work)
        try:
            source = self._copy.held.fd
            for name in os.listdir(self._copy.held.path):
                os.rename(name, name, src_dir_fd=source, dst_dir_fd=target)
        finally:
            os.close(target)
