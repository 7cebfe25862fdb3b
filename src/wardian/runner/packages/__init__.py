"""What a script needs, prepared once and kept by content. Nothing of a package is trusted.

Preparing is two steps in two sandboxes. *Fetch* has the user's index settings, reaches their hosts
and executes nothing of any package; its results are archives, which wardian hashes. *Install* has
the archives, and neither network nor passwords: a wheel is read where nothing can be written, and
wardian writes and links its files; npm has one new directory to write to.

preparing             found ready, or made by one process while others wait
requirements, specs   what may be asked for: PEP 508, npm; pure
pins                  which files may serve, by the hashes that requirements give
model                 what is wanted, and what was made
cabinet               directories and records of wardian's own, by descriptor
store                 archives by their hash, filled by wardian alone
wheels                wheels, unpacked once; read in a sandbox, written by wardian
layout                where the files of a wheel belong in an environment; pure
linking               an environment from unpacked wheels, by hard links
bytecode              what a used environment's modules compile to, made when it is used again
inventory             what the cache holds, and removing it
rooms                 the sandboxes
reach                 which hosts *fetch* reaches
reasons               why a package tool failed, read from what it printed; pure
tools, venv           package managers of this host; an environment, written by wardian
python, resolving, building     Python packages with uv or pip
node                  Node packages with npm
contents              what came of it, looked at by descriptor
inside/               programs of wardian's that run in the sandboxes
"""

from __future__ import annotations

from wardian.runner.packages.model import PreparationError, PreparedPackages
from wardian.runner.packages.preparing import prepare

__all__ = ["PreparationError", "PreparedPackages", "prepare"]
