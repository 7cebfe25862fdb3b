"""Adds lines to the text of a policy file, and leaves everything else as it is.

tomlkit does it: comments, order and layout of a file that people keep have to survive. Only what
proposes changes needs it, so it is the extra ``nightly``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wardian.errors import UsageError

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def require() -> None:
    """Raises UsageError if tomlkit is not installed."""
    try:
        import tomlkit  # noqa: F401
    except ImportError:
        raise UsageError(
            "proposing changes of policy files needs tomlkit", hint="pip install 'wardian[nightly]'"
        ) from None


def with_lines(text: str, lines: str) -> str:
    """The file with these lines in force: lists are joined, values replaced, and a system call
    that is to be allowed is no longer denied. Raises ValueError if either is not TOML."""
    import tomlkit

    document, wanted = tomlkit.parse(text), tomlkit.parse(lines).unwrap()
    for table, keys in wanted.items():
        for key, value in keys.items():
            if table == "syscalls" and key == "allow":
                _allow(document, value)
            else:
                _join(document, table, key, value)
    return _ended(tomlkit.dumps(document))


def with_value(text: str, key: str, value: str) -> str:
    """The file with ``key`` set to this, at its beginning. Raises ValueError if it is not TOML."""
    import tomlkit

    document = tomlkit.parse(text)
    document.pop(key, None)
    return _ended(f"{key} = {tomlkit.item(value).as_string()}\n{tomlkit.dumps(document)}")


def _allow(document: TOMLDocument, names: list[str]) -> None:
    denied = list(document.get("syscalls", {}).get("deny", []))
    for name in names:
        if name not in denied:
            _join(document, "syscalls", "allow", [name])
    left = [one for one in denied if one not in names]
    if left != denied:
        _set(document, "syscalls", "deny", left)


def _join(document: TOMLDocument, table: str, key: str, value: Any) -> None:
    before = document.get(table, {}).get(key)
    if isinstance(value, list) and isinstance(before, list):
        value = list(dict.fromkeys((*before, *value)))
    _set(document, table, key, value)


def _set(document: TOMLDocument, table: str, key: str, value: Any) -> None:
    """In place of what stands there, else in its table, else in a table at the end. An empty list
    takes the line away."""
    import tomlkit

    if value == []:
        document.get(table, {}).pop(key, None)
        return
    if table not in document:
        if document.as_string().strip():
            document.add(tomlkit.nl())
        document.add(table, tomlkit.table())
    document[table][key] = value


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
