"""The documents of a campaign on disk, each whole or not at all."""

from __future__ import annotations

import json
import os
import shutil

from wardian.errors import InputError
from wardian.measure.pages.documents import (
    analysis,
    capabilities,
    evaluation,
    evidence,
    machine,
    skills,
    summary,
)
from wardian.measure.pages.documents.decision import Decision
from wardian.measure.pages.documents.gathered import Gathered
from wardian.sandbox.paths.named import open_directory, trusted_path
from wardian.sandbox.paths.whole_files import write_whole

FOLDERS = ("evidence", "patches")


def write_documents(directory: str, gathered: Gathered, decision: Decision) -> list[str]:
    """Everything below ``directory``; what an earlier campaign of ours left in its folders goes.

    Raises InputError if it can't be written to.
    """
    page = evaluation.page(gathered)
    files = {
        f"EVALUATION_{gathered.campaign.night}.md": page,
        "SYSCALL_ANALYSIS.md": analysis.page(gathered),
        "SKILLS_COMPATIBILITY_MATRIX.md": skills.page(gathered),
        "CAPABILITIES.md": capabilities.page(gathered),
        "evaluation.json": _json(machine.document(gathered, decision)),
        "junit.xml": machine.junit(gathered),
        "summary.md": summary.summary(page, f"{decision.action}: {decision.reason}"),
        "decision.json": _json(decision.document()),
    }
    files |= {f"evidence/{name}": text for name, text in evidence.pages(gathered).items()}
    for one in gathered.findings:
        proposal = one.document.get("proposal")
        if proposal and proposal["patch"]:
            files[f"patches/{one.slug}.patch"] = proposal["patch"]
    if decision.patch:
        files["decision.patch"] = decision.patch
    try:
        _write(directory, files)
    except OSError as error:
        what = (error.strerror or str(error)).lower()
        raise InputError(f"can't be written: {what}", path=directory) from None
    return sorted(files)


def _write(directory: str, files: dict[str, str]) -> None:
    directory = trusted_path(directory, "-o")
    os.close(open_directory(directory, make=0o777))
    for folder in FOLDERS:
        shutil.rmtree(os.path.join(directory, folder), ignore_errors=True)
    stale = os.path.join(directory, "decision.patch")
    if os.path.lexists(stale):
        os.unlink(stale)
    for name, text in files.items():
        write_whole(os.path.join(directory, name), text)


def _json(document: object) -> str:
    return json.dumps(document, indent=1, default=list) + "\n"
