"""``wardian show``: describe skills, or print the <available_skills> block for an agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from wardian.skills.scripts import Script
    from wardian.skills.skill import Skill

MAX_SOURCE_BYTES = 1 << 20


@click.command(
    "show",
    epilog="""\b
Examples:
  wardian show skills/pdf
  wardian show --prompt skills/pdf skills/docx

\b
Exit code: 0 success, 2 usage, 3 no such skill.""",
)
@click.argument("skills", nargs=-1)
@click.option("--prompt", is_flag=True, help="Print the <available_skills> block for an agent.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(skills: tuple[str, ...], prompt: bool, as_json: bool) -> None:
    """Describe SKILLS: metadata, scripts with their interpreters, dependencies, sizes.

    Each is a path, or the name of a skill that `wardian list` shows. With --prompt and no SKILLS,
    all listed skills are included.
    """
    from wardian.errors import UsageError

    if prompt and as_json:
        raise UsageError("--prompt and --json cannot be combined")
    if not skills and not prompt:
        raise UsageError("no skill given", hint="list skills: wardian list")
    if prompt:
        from wardian.skills.prompt import available_skills

        click.echo(available_skills(_prompted(skills)))
        return
    documents = [_described(_path(skill)) for skill in skills]
    if as_json:
        import json

        click.echo(json.dumps({"schema": "wardian.show/1", "skills": documents}, indent=2))
    else:
        click.echo("\n\n".join(_page(document) for document in documents))


def _prompted(skills: tuple[str, ...]) -> list[Skill]:
    from wardian.skills.skill import load_skill

    if skills:
        return [load_skill(_path(skill), scripts=False) for skill in skills]
    from wardian.skills.discovery import discover

    found = discover(Path())
    return [one.skill for one in found if one.skill is not None and one.shadowed_by is None]


def _path(skill: str) -> Path:
    if Path(skill).exists():
        return Path(skill)
    from wardian.errors import NothingMatched
    from wardian.skills.discovery import discover

    for one in discover(Path()):
        if one.name == skill and one.shadowed_by is None:
            return one.path
    raise NothingMatched(f"no skill called {skill!r}", hint="list skills: wardian list")


def _described(path: Path) -> dict[str, Any]:
    from dataclasses import asdict

    from wardian.runner.wishes import wishes_in
    from wardian.skills.dependencies import declared_by
    from wardian.skills.reading import walk
    from wardian.skills.skill import load_folder, opened

    with opened(path) as folder:
        skill = load_folder(folder, path)
        listing = walk(folder.path)
        declared = declared_by(folder.path, skill.body, listing)
        scripts = [asdict(script) | _inline(folder.path, script) for script in skill.scripts]
    return {
        "name": skill.name,
        "description": skill.description,
        "path": str(path),
        "license": skill.license,
        "compatibility": skill.compatibility,
        "metadata": dict(skill.metadata),
        "allowed_tools": list(skill.allowed_tools),
        "other": dict(skill.other),
        "scripts": scripts,
        "dependencies": {
            "python": list(declared.python),
            "requires_python": declared.requires_python,
            "node": dict(declared.node),
            "node_lock": declared.node_lock,
            "prose": list(declared.prose),
        },
        "requests": wishes_in(skill.metadata).document(granted=False),
        "installed": _installed(path),
        "files": len(listing.files),
        "bytes": sum(entry.size for entry in listing.files),
        "body_lines": skill.body.count("\n"),
        "diagnostics": [asdict(one) for one in skill.diagnostics],
    }


def _installed(path: Path) -> dict[str, Any] | None:
    from wardian.runner.installs import record_of

    record = record_of(str(path.resolve()))
    return record._asdict() | {"changed": record.changed} if record is not None else None


def _inline(folder: Path, script: Script) -> dict[str, Any]:
    """The dependencies in the script's `# /// script` block, if it has a valid one."""
    from wardian.skills.dependencies import DeclarationError, inline_metadata
    from wardian.skills.reading import read_inside

    found = None
    if script.interpreter is not None and script.interpreter.name == "python":
        try:
            source = read_inside(str(folder), script.path, MAX_SOURCE_BYTES, truncate=True)
            found = inline_metadata(source.decode("utf-8", "replace"))
        except (OSError, DeclarationError):
            pass  # `wardian check` reports it
    if found is None:
        return {"dependencies": None, "requires_python": None}
    return {"dependencies": list(found.dependencies), "requires_python": found.requires_python}


def _page(document: dict[str, Any]) -> str:
    from wardian.text import printable

    lines = [printable(document["name"]), f"  {printable(document['description'])}", ""]
    for label in ("path", "license", "compatibility"):
        if document[label]:
            lines.append(f"  {label:<14}{printable(document[label])}")
    if document["allowed_tools"]:
        lines.append(f"  {'allowed tools':<14}{printable(' '.join(document['allowed_tools']))}")
    for key, value in {**document["metadata"], **document["other"]}.items():
        lines.append(f"  {printable(key):<14}{printable(value)}")
    if document["installed"] is not None:
        record = document["installed"]
        since = ", changed since" if record["changed"] else ""
        text = f"{record['time']} from {printable(record['source'])}{since}"
        lines.append(f"  {'installed':<14}{text}")
    asked = document["requests"]
    if asked["network"]:
        line = f"network: {', '.join(asked['network'])} (only with --grant)"
        lines.append(f"  {'asks for':<14}{line}")
    for one in asked["refused"]:
        lines.append(f"  {'asks for':<14}network, refused: {one['wish']}: {one['reason']}")
    size = f"{document['files']} files, {document['bytes']:,} bytes"
    lines.append(f"  {'size':<14}{size}, {document['body_lines']} lines of instructions")
    lines += [f"  {label:<14}{printable(value)}" for label, value in _needs(document)]
    if document["scripts"]:
        lines += ["", "  scripts"]
        lines += [f"    {printable(_script(script))}" for script in document["scripts"]]
    if document["diagnostics"]:
        count = len(document["diagnostics"])
        lines += ["", f"  {count} finding{'s' if count != 1 else ''}: see `wardian check`"]
    return "\n".join(lines)


def _needs(document: dict[str, Any]) -> list[tuple[str, str]]:
    needs = document["dependencies"]
    rows = [
        ("python needs", ", ".join(needs["python"])),
        ("python", needs["requires_python"] or ""),
        ("node needs", ", ".join(f"{name} {wish}" for name, wish in needs["node"].items())),
        ("mentioned", ", ".join(needs["prose"])),
    ]
    return [(label, value) for label, value in rows if value]


def _script(script: dict[str, Any]) -> str:
    interpreter = script["interpreter"]
    runs = "unknown" if interpreter is None else interpreter["name"]
    if interpreter is not None and interpreter["version"]:
        runs += f" {interpreter['version']}"
    role = "" if script["entry"] else "  (module)"
    line = f"{runs:<14}{script['path']}  {script['size']:,} bytes{role}"
    needs = ", ".join(script["dependencies"] or ())
    wish = f"python {script['requires_python']}" if script["requires_python"] else ""
    return f"{line}  needs {', '.join(filter(None, (wish, needs)))}" if wish or needs else line
