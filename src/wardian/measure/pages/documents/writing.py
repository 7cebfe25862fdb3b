"""The documents of a campaign on disk, each whole or not at all."""

from __future__ import annotations

import json
import os
import re
import shutil

from wardian.errors import InputError
from wardian.measure.pages.documents import evaluation, evidence, machine, matrices
from wardian.measure.pages.documents.decision import Decision
from wardian.measure.pages.facts import Facts
from wardian.sandbox.paths.named import open_directory, trusted_path
from wardian.sandbox.paths.whole_files import write_whole

FOLDERS = ("evidence", "patches")
MAX_SUMMARY = 1 << 20  # what GitHub Actions takes of a step
NOTE = "\n\n… shortened: the whole evaluation is among what was uploaded.\n"
_ROOM = 400
_LINK = re.compile(r"\[([^\]\[]*)\]\((?!https?:)[^)\n]*\)")


def write_documents(directory: str, facts: Facts, decision: Decision) -> list[str]:
    """Everything below ``directory``; what an earlier campaign of ours left in its folders goes.

    Raises InputError if it can't be written to.
    """
    page = evaluation.page(facts)
    files = {
        f"EVALUATION_{facts.campaign.night}.md": page,
        "SYSCALL_ANALYSIS.md": matrices.system_calls(facts),
        "SKILLS_COMPATIBILITY_MATRIX.md": matrices.skills(facts),
        "CAPABILITIES.md": matrices.capabilities(facts),
        "evaluation.json": _json(machine.document(facts, decision)),
        "junit.xml": machine.junit_of(facts),
        "summary.md": summary(page, f"{decision.action}: {decision.reason}"),
        "decision.json": _json(decision.document()),
    }
    files |= {f"evidence/{name}": text for name, text in evidence.pages(facts).items()}
    for one in facts.findings:
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


def summary(page: str, decision: str) -> str:
    """The summary of a step in GitHub Actions: ``page`` with what follows from it on top; cut at
    a line where it would be too long. Links to files lead nowhere there, so they are only text."""
    plain = _LINK.sub(r"\1", page)
    whole = f"> {decision}\n\n{plain}"
    if len(whole.encode()) <= MAX_SUMMARY - _ROOM:
        return whole
    kept, size = [], 0
    for line in whole.splitlines(keepends=True):
        size += len(line.encode())
        if size > MAX_SUMMARY - _ROOM:
            break
        kept.append(line)
    return "".join(kept) + NOTE
