"""What is wanted of a preparation, and what came of it. Data only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from wardian.errors import SandboxError

if TYPE_CHECKING:
    from wardian.runner.needs import Needs
    from wardian.runner.packages.pins import Pins

Say = Callable[[str], None]
Hash = tuple[str, str]  # its kind, and its digits in lower case


class PreparationError(SandboxError):
    """Dependencies could not be prepared. Nothing of the skill was run."""


class OldToolError(PreparationError):
    """The package manager lacks something that wardian needs of it; another may have it."""


class PreparedPackages(NamedTuple):
    """``python`` starts the environment's own interpreter; all are absolute paths.

    ``root`` and ``base`` are what a run must see of it, read-only: the environment, and the
    installation that its interpreter belongs to, empty if that is below /usr.
    """

    python: str | None = None
    node_modules: str | None = None
    root: str = ""
    base: str = ""


class Preparation(NamedTuple):
    """One environment to be made at ``path``; ``scratch`` is private to this preparation."""

    path: str
    scratch: str
    needs: Needs
    offline: bool
    build: bool
    say: Say
    pins: Pins
    step: Callable[[int, int], None] = lambda done, total: None  # packages that are there, of all


class PackageFile(NamedTuple):
    """One file that would serve: where it is, and the hashes its index gives."""

    url: str
    hashes: tuple[tuple[str, str], ...]

    @property
    def filename(self) -> str:
        from urllib.parse import unquote, urlsplit

        return unquote(urlsplit(self.url).path.rpartition("/")[2])


class Locked(NamedTuple):
    """A package as the resolver chose it; any of the candidates would serve."""

    name: str
    version: str
    candidates: tuple[PackageFile, ...]
    direct: bool = False  # named by a URL, in the requirements or in a package's metadata


class Archive(NamedTuple):
    """A file of the store: its path there, its name, the hash it is kept by."""

    path: str
    filename: str
    digest: str
