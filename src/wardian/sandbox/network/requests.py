"""Which requests a rule of ``[network.tls]`` allows: methods and paths, compared in one form. What
a server could read in two ways is refused. Pure."""

from __future__ import annotations

import functools
import re
import unicodedata

from wardian.errors import UsageError

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple

    from wardian.sandbox.policy.policy import TlsRule
else:
    from wardian.values import NamedTuple

LONGEST_TARGET = 16 << 10
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_METHOD = re.compile(r"[A-Z][A-Z-]{0,31}\Z")
# CONNECT asks for a tunnel; TRACE answers with the headers, a secret among them.
NEVER = ("CONNECT", "TRACE")
# With these a request means another method or path than it says.
METHOD_HEADERS = ("x-http-method-override", "x-http-method", "x-method-override")
PATH_HEADERS = ("x-original-url", "x-rewrite-url")
# What belongs to one connection, or to the message's frame: neither passed on nor a secret.
HOP_HEADERS = (
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
    "te", "trailer", "transfer-encoding", "upgrade", "http2-settings", "expect",
)  # fmt: skip
FRAME_HEADERS = (*HOP_HEADERS, "host", "content-length")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class AmbiguousError(ValueError):
    """Servers differ in what such a target means: in words."""


class RequestVerdict(NamedTuple):
    """``why`` is None for an allowed request; ``path`` is what a rule would have to name, if one
    could allow it."""

    why: str | None
    path: str | None = None


def verdict(rules: Iterable[TlsRule], method: str, target: str) -> RequestVerdict:
    """Of a request in origin form: does one of the host's rules allow it?"""
    if method in NEVER:
        return RequestVerdict(f"{method} is not passed on")
    if not _METHOD.match(method):
        return RequestVerdict("this is no method")
    if not target.startswith("/") or len(target) > LONGEST_TARGET:
        return RequestVerdict("it asks for no path of this host")
    of_host = list(rules)
    try:
        path = normal_path(target)
    except AmbiguousError as error:
        if any(not rule.paths and _has_method(rule, method) for rule in of_host):
            return RequestVerdict(None)  # any path will do
        return RequestVerdict(str(error))
    fitting = [rule for rule in of_host if not rule.paths or _matches(rule, path)]
    if not fitting:
        return RequestVerdict("no rule allows this path", path)
    if not any(_has_method(rule, method) for rule in fitting):
        return RequestVerdict("no rule allows this method", path)
    return RequestVerdict(None)


def _has_method(rule: TlsRule, method: str) -> bool:
    return not rule.methods or method in rule.methods


def normal_path(target: str) -> str:
    """The path of a target without its query, each character in one spelling. Raises
    AmbiguousError."""
    if not all("!" <= one <= "~" for one in target) or "#" in target:
        raise AmbiguousError("its target has characters that none may have")
    path = target.partition("?")[0]
    if "\\" in path:
        raise AmbiguousError("its path has a backslash")
    if re.search(r"%(?![0-9A-Fa-f]{2})", path):
        raise AmbiguousError("its path has a percent sign that stands for nothing")
    spelled = re.sub("%..", lambda found: _one_spelling(int(found[0][1:], 16)), path)
    raw = re.sub(rb"%(..)", lambda found: bytes([int(found[1], 16)]), spelled.encode("ascii"))
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise AmbiguousError("its path is not UTF-8") from None
    for form in (text, unicodedata.normalize("NFKC", text)):
        if form.count("/") != spelled.count("/") or "\\" in form:
            raise AmbiguousError("its path has a character that reads as a slash")
        if any(part.partition(";")[0] in (".", "..") for part in form.split("/")):
            raise AmbiguousError("its path has dots that lead elsewhere")
    if "//" in spelled:
        raise AmbiguousError("its path has two slashes together")
    return spelled


def _one_spelling(code: int) -> str:
    if code in _UNRESERVED:
        return chr(code)
    if code < 0x20 or code in b"\x7f%/\\":
        raise AmbiguousError(f"its path has %{code:02X}, which servers read differently")
    return f"%{code:02X}"


def _matches(rule: TlsRule, path: str) -> bool:
    return any(_pattern(one).fullmatch(path) for one in rule.paths)


@functools.lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(re.escape(text).replace(r"\*\*", ".+").replace(r"\*", "[^/]+"))


# Checked when a policy is read


def check_method(text: str) -> str:
    """Raises UsageError."""
    if not _METHOD.match(text) or text in NEVER:
        raise UsageError(f"{text!r} is no method that can be allowed", hint="such as GET, POST")
    return text


def check_pattern(text: str) -> str:
    """A path, with ``*`` for what has no slash and ``**`` for anything. Raises UsageError."""
    hint = "such as /v1/items, /v1/items/* or /v1/**"
    if not text.startswith("/") or "?" in text or re.search(r"\*{3}", text):
        raise UsageError(f"{text!r} is no path", hint=hint)
    if any("**" in part and part != "**" for part in text.split("/")):
        raise UsageError(f"{text!r}: ** stands for whole parts of a path", hint=hint)
    try:
        return normal_path(text)
    except AmbiguousError as error:
        raise UsageError(f"{text!r}: {str(error).replace('its path', 'it')}", hint=hint) from None


def check_header(name: str) -> str:
    """The name of a header that may carry a secret. Raises UsageError."""
    if not _TOKEN.match(name) or name.lower() in FRAME_HEADERS:
        raise UsageError(f"{name!r} is no header for a secret", hint='such as "Authorization"')
    return name
