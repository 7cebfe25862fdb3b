"""Project files that the user trusts by their content, although a guest may write to them: digests
by path, in wardian's own state, which no guest can write."""

from __future__ import annotations

import os

from wardian.cli.configured import SettingsError
from wardian.cli.settings import PYPROJECT, directories, trust_file

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from wardian.cli.projects import ProjectFile

SCHEMA = "wardian.trusted-projects/1"
MAX_BYTES = 1 << 20


def digest_of(file: ProjectFile) -> str:
    """Names the content of a file; of a pyproject.toml, that of its table alone."""
    import hashlib
    import json

    from wardian.cli.projects import table_of

    data = file.text
    if file.prefix:
        data = json.dumps(table_of(file.text), sort_keys=True, default=str)
    return "sha256:" + hashlib.sha256(data.encode()).hexdigest()


def trusted() -> dict[str, str]:
    """Digests by path. Raises SettingsError."""
    path = trust_file()
    if not os.access(path, os.F_OK):
        return {}
    import json

    from wardian.sandbox.paths.whole_files import read_decisive

    try:
        document = json.loads(read_decisive(path, MAX_BYTES, SettingsError))
        found: dict[str, str] = document["trusted"]
        if document["schema"] == SCHEMA and all(
            isinstance(one, str) for pair in found.items() for one in pair
        ):
            return dict(found)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    raise SettingsError("is damaged", path=path, hint=f"remove it, and trust again: rm {path}")


def trust(file: ProjectFile) -> None:
    """Trust the present content of a file. Raises OSError and WardianError."""
    _write(trusted() | {file.path: digest_of(file)})


def distrust(path: str) -> bool:
    """Forget a file; False if it was not trusted. Raises OSError and WardianError."""
    known = trusted()
    if path not in known:
        return False
    _write({one: digest for one, digest in known.items() if one != path})
    return True


def _write(known: dict[str, str]) -> None:
    import json

    from wardian.sandbox.paths.whole_files import write_whole

    text = json.dumps({"schema": SCHEMA, "trusted": known}, indent=2) + "\n"
    write_whole(trust_file(), text, mode=0o600)


def is_trusted(file: ProjectFile) -> bool:
    """Whether the user trusts this content. Raises SettingsError if it was trusted once and has
    changed."""
    known = trusted().get(file.path)
    if known is None:
        return False
    if known != digest_of(file):
        from wardian.text import shell_word

        raise SettingsError(
            "changed since you trusted it, and a guest may have done that",
            path=file.path,
            hint=f"review it, then run: wardian config trust {shell_word(file.path)}",
        )
    return True


def refuse_missing() -> None:
    """Raises SettingsError if a trusted file of this directory or one above it is gone."""
    known = trusted()
    if not known:
        return
    from wardian.cli.projects import project_file
    from wardian.text import shell_word

    here = set(directories())
    for path in known:
        directory, name = os.path.split(path)
        if directory not in here:
            continue
        found = project_file(directory)
        if found is None or os.path.basename(found.path) != name:
            gone = "has no [tool.wardian] any more" if name == PYPROJECT else "is gone"
            raise SettingsError(
                f"{gone}, although you trusted it; a guest may have removed it",
                path=path,
                hint=f"restore it, or run: wardian config untrust {shell_word(path)}",
            )
