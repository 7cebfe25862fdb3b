"""What a skill asks for in its SKILL.md: data that is shown, and that only the caller grants.

``metadata: {wardian-net: "api.example.com *.example.org:8443"}`` asks for these rules of a network
by name. Each key is ``wardian-`` and the name of the option that it asks for; ``net`` is the one
that is known.
"""

from __future__ import annotations

import os

from wardian.descriptors import FILE, read_regular

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any, NamedTuple

    from wardian.runner.location import Located
    from wardian.sandbox.policy.policy import Policy
    from wardian.skills.diagnostic import Diagnostic
else:
    from wardian.values import NamedTuple

PREFIX = "wardian-"
NET = f"{PREFIX}net"
KEYS = (NET,)
MOST = 20  # rules that a skill may ask for
LONGEST = 300
SHOWN_REFUSED = 3
MANIFEST_BYTES = 1 << 20
_MANIFESTS = ("SKILL.md", "skill.md")


class RefusedWish(NamedTuple):
    """What a skill asks for and can't get by ``--grant``; both texts are harmless."""

    wish: str
    reason: str


class SkillWishes(NamedTuple):
    """Rules as ``--net`` takes them, in their normal form, and what is none."""

    net: tuple[str, ...] = ()
    refused: tuple[RefusedWish, ...] = ()
    unknown: tuple[str, ...] = ()  # keys

    def document(self, *, granted: bool) -> dict[str, Any]:
        """As JSON (docs/reference/result.md)."""
        return {
            "network": list(self.net),
            "granted": granted and bool(self.net),
            "refused": [one._asdict() for one in self.refused],
        }


def wishes_of(folder: str) -> SkillWishes:
    """What the skill in a folder asks for; nothing where its SKILL.md can't be read. A SKILL.md
    that does not name the keys is not parsed."""
    for name in _MANIFESTS:
        path = os.path.join(folder, name)
        try:
            data = read_regular(os.open(path, FILE), MANIFEST_BYTES)
        except FileNotFoundError:
            continue
        except OSError:  # a link, perhaps to another skill's of the same clone
            data = _linked(path)
        return wishes_in(_metadata(data)) if data and PREFIX.encode() in data else SkillWishes()
    return SkillWishes()


def _linked(path: str) -> bytes | None:
    from pathlib import Path

    from wardian.skills.skill import manifest_bytes

    try:
        return manifest_bytes(Path(path))
    except OSError:
        return None


def _metadata(data: bytes) -> Mapping[str, str]:
    from wardian.skills import manifest
    from wardian.skills.diagnostic import UnreadableError

    try:
        return manifest.read(data.decode("utf-8"), "SKILL.md").metadata
    except (UnicodeDecodeError, UnreadableError):
        return {}


def wishes_in(metadata: Mapping[str, str]) -> SkillWishes:
    """The wishes of a SKILL.md's ``metadata``, checked. Pure."""
    from wardian.text import cut, printable

    own = [key for key in metadata if key.startswith(PREFIX)]
    unknown = tuple(cut(printable(key), 60) for key in own if key not in KEYS)[:MOST]
    net: dict[str, None] = {}
    refused: list[RefusedWish] = []
    words = metadata.get(NET, "").split()
    for word in words[:MOST]:
        why, rule = _judged(word)
        if why is None:
            net[rule] = None
        else:
            refused.append(RefusedWish(cut(printable(word), 80), why))
    if len(words) > MOST:
        refused.append(RefusedWish(f"{len(words) - MOST:,} more", f"{MOST} are the most"))
    return SkillWishes(tuple(net), tuple(refused), unknown)


def _judged(word: str) -> tuple[str | None, str]:
    """Why a wish is refused, or None and the rule."""
    from wardian.errors import UsageError
    from wardian.sandbox.network.rules import NameRule, parse_rule
    from wardian.text import printable

    typed = "the caller has to type it: --net"
    if len(word) > LONGEST:
        return f"it is longer than {LONGEST} characters", ""
    if word in ("host", "none", "ask"):
        return f"not a host name; {typed}", ""
    try:
        rule = parse_rule(word)
    except UsageError as error:
        return printable(str(error)), ""
    if not isinstance(rule, NameRule):
        return f"an address by number; {typed}", ""
    if rule.left == "**":
        return f"any number of labels; {typed}", ""
    if "." not in rule.name or rule.name.endswith((".localhost", ".local")):
        return f"a name of the caller's own network; {typed}", ""
    return None, str(rule)


def findings(path: Path) -> list[Diagnostic]:
    """What `wardian check` says of the wishes of a skill: a folder, or an archive."""
    from wardian.errors import SkillError
    from wardian.skills.diagnostic import finding
    from wardian.skills.skill import opened

    try:
        with opened(path) as folder:
            wishes, shown = wishes_of(str(folder.path)), f"{folder.shown}/{_MANIFESTS[0]}"
    except SkillError:
        return []  # which is found anyway
    found = [
        finding("request", f"{NET}: {one.wish}: {one.reason}", shown) for one in wishes.refused
    ]
    for key in wishes.unknown:
        message = f"`metadata.{key}` is not a request that wardian knows"
        found.append(finding("request-key", message, shown, hint=f"known: {', '.join(KEYS)}"))
    return found


def with_wishes(
    policy: Policy, skill: Located, *, grant: bool, say: Callable[[str], None]
) -> tuple[Policy, SkillWishes]:
    """The policy, with what the skill asks for if that is granted; ``say`` gets lines about it.

    Raises UsageError for a grant where a guest may have written what is asked for, or where the
    caller wants no network.
    """
    wishes = wishes_of(skill.path)
    if wishes == SkillWishes():
        return policy, wishes
    from wardian.text import shell_word

    for one in wishes.refused[:SHOWN_REFUSED]:
        say(f"wardian: this skill asks for network, ignored: {one.wish}: {one.reason}")
    if len(wishes.refused) > SHOWN_REFUSED:
        more = len(wishes.refused) - SHOWN_REFUSED
        say(f"wardian: … and {more} more that {'is' if more == 1 else 'are'} ignored")
    known = policy.allow_hosts if policy.network == "names" else ()
    missing = [rule for rule in wishes.net if rule not in known]
    if policy.network == "host" or not missing:
        return policy, wishes
    shown = ", ".join(missing)
    if not grant:
        say(f"wardian: this skill asks for network: {shown}; allow: --grant")
        return policy, wishes
    _refuse_written_by_guest(skill, " ".join(f"--net {shell_word(one)}" for one in missing))
    say(f"wardian: granted to this skill: network: {shown}")
    return policy._replace(network="names", allow_hosts=(*known, *missing)), wishes


def _refuse_written_by_guest(skill: Located, typed: str) -> None:
    """What a guest may have written decides no right of a later run. Raises UsageError."""
    from wardian.errors import UsageError
    from wardian.sandbox.paths.named import was_shared

    for path in (skill.path, skill.origin, *(os.path.join(skill.path, n) for n in _MANIFESTS)):
        shared = was_shared(os.path.realpath(path))
        if shared is not None:
            raise UsageError(
                f"--grant: a guest may have written what this skill asks for: {shared} was shared "
                "for writing",
                hint=f"{typed}",
            )
