"""Skills in archives, which are hostile until shown otherwise.

names          one member's name, and the set of all names: what is refused, and why
members        what a zip or a tar holds, as a sequence of plain files; the only readers
zips, tars     the two formats, each read in a stream under a budget
unpacking      two passes: everything is verified before anything is written
packing        a directory into a .skill, the same to the byte each time
"""

from __future__ import annotations

from wardian.skills.archive.packing import Packed, pack
from wardian.skills.archive.unpacking import unpack, unpacked

__all__ = ["Packed", "pack", "unpack", "unpacked"]
