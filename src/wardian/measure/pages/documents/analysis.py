"""SYSCALL_ANALYSIS.md: every system call, whether it works, who needs it. Pure."""

from __future__ import annotations

from wardian.measure.pages.documents.coverage import uses
from wardian.measure.pages.documents.gathered import Gathered
from wardian.measure.syscalls.pages import analysis

NOTHING = "No specimen of a system call was among what was measured.\n"


def page(gathered: Gathered) -> str:
    """The whole document, as `wardian syscalls coverage` writes it, for this campaign."""
    if not gathered.matrix.sandboxes:
        return f"# System calls, {gathered.campaign.night}\n\n{NOTHING}"
    return analysis(gathered.matrix, gathered.artifacts, uses(gathered))
