"""A policy: what a run may reach and use. Frozen, compared by value, identified by a digest.

It says what is wanted; what this host can do about it is ``plan``'s business.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from wardian.errors import UsageError

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any, NamedTuple

    from wardian.sandbox.run.result import Refusal
else:
    from wardian.values import NamedTuple

NETWORKS = ("none", "names", "host")
DEFAULT_PRESET = "default"
DEFAULT_SOURCES = (
    "sandbox/policy/presets/default.toml",
    "sandbox/policy/policy.py",
    "sandbox/policy/file.py",
    "sandbox/policy/units.py",
)


class Share(NamedTuple):
    """A path of the host, and where it stands inside. With ``copy`` the guest may change what it
    sees there, and changes nothing outside."""

    path: str
    at: str
    write: bool = False
    copy: bool = False

    @classmethod
    def parse(
        cls, text: str, *, write: bool = False, copy: bool = False, base: str | None = None
    ) -> Share:
        """Read ``PATH[:AT]``; a relative PATH counts from ``base``. Raises UsageError."""
        path, colon, place = text.rpartition(":/")
        path, at = (path, f"/{place}") if colon and path else (text, "")
        path = os.path.expanduser(path)
        if base is not None:
            path = os.path.join(base, path)
        if not path or not path.startswith("/") or "\0" in path:
            raise UsageError(
                f"{text!r} is not a path that can be shared; write PATH or PATH:/WHERE/INSIDE"
            )
        if ":" in at:
            raise UsageError(f"{text!r}: a place inside can't hold a colon")
        path = os.path.normpath(path)
        return cls(path, normal(at) if at else path, write, copy)

    def __str__(self) -> str:
        plain = self.at == self.path and ":/" not in self.path
        return self.path if plain else f"{self.path}:{self.at}"


def normal(path: str) -> str:
    """An absolute path inside, without dots and double slashes."""
    return "/" + os.path.normpath("/" + path).lstrip("/")


# Without this call no run can begin: the filter is handed to the supervisor with it.
NEVER_DENIED = "sendmsg"
# What debuggers do to other processes; all that are within reach are the guest's own.
DEBUG_CALLS = ("ptrace", "process_vm_readv", "process_vm_writev")


class Limits(NamedTuple):
    """None means no limit. Sizes are bytes, times are seconds."""

    time_s: float | None = None
    cpu_s: float | None = None
    memory_bytes: int | None = None
    processes: int | None = None
    files: int | None = None
    disk_bytes: int | None = None
    output_bytes: int | None = None


class Secret(NamedTuple):
    """A header that requests to one host get and the guest never sees. ``source`` is where its
    value is: ``env:NAME``, a variable of the caller's, or ``file:PATH``; ``prefix`` stands before
    it."""

    header: str
    source: str
    prefix: str = ""


class TlsRule(NamedTuple):
    """Requests that may be made to one host, on port 443: with these ``methods`` and ``paths``, any
    if there are none. Several rules for a host allow what one of them allows."""

    host: str
    methods: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    secret: Secret | None = None


# By the names that options and policy files have for them.
LIMIT_FIELDS = {
    "time": "time_s",
    "cpu": "cpu_s",
    "memory": "memory_bytes",
    "processes": "processes",
    "files": "files",
    "disk": "disk_bytes",
    "output": "output_bytes",
}


class Policy(NamedTuple):
    """What a run may reach and use. ``Policy.default()`` is the shipped preset."""

    shares: tuple[Share, ...] = ()
    work: str | None = None
    rootfs: str | None = None
    network: str = "none"
    pass_env: tuple[str, ...] = ()
    set_env: tuple[tuple[str, str], ...] = ()
    limits: Limits = Limits()
    allow_syscalls: tuple[str, ...] = ()
    deny_syscalls: tuple[str, ...] = ()
    landlock_abi: int = 1
    degrade: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()  # rules of a network by name
    deny_hosts: tuple[str, ...] = ()
    base: tuple[str, ...] | None = None  # of the host's /usr and /etc only these; None: all of it
    max_connections: int | None = 512  # of a network by name, at once
    max_per_second: int | None = 1000  # new connections
    max_sent_bytes: int | None = None  # of all connections together
    max_received_bytes: int | None = None
    tls: tuple[TlsRule, ...] = ()  # hosts whose requests are looked at (docs/network.md)
    interface: bool = False  # one besides lo in a network of the guest's own; it leads nowhere
    explain: bool = False  # watch every call that takes a path, for refusals that are not seen else

    @classmethod
    def default(cls) -> Policy:
        """The shipped preset ``default``."""
        from wardian import compiled

        fields = compiled.load(DEFAULT_PRESET, DEFAULT_SOURCES, read_default)
        return cls(**fields | {"limits": Limits(**fields["limits"])})

    @classmethod
    def preset(cls, name: str) -> Policy:
        """A shipped preset. Raises PolicyError if there is none of that name."""
        from wardian.sandbox.policy import file as policy_file

        return policy_file.read_preset(name)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], base: Policy | None = None) -> Policy:
        """A policy file on top of ``base`` (the default preset). Raises PolicyError."""
        from wardian.sandbox.policy import file as policy_file

        return policy_file.read_policy(os.fspath(path), base or cls.default())

    def to_toml(self) -> str:
        """The policy as a file that ``from_toml`` reads back to the same value."""
        from wardian.sandbox.policy.writing import write_policy

        return write_policy(self)

    def but(self, **changes: Any) -> Policy:
        """The same policy with other values for these fields. Raises UsageError for limits that are
        none."""
        policy = self._replace(**changes)
        if "limits" in changes:
            check_limits(policy.limits)
        return policy

    def with_shares(self, shares: Iterable[Share]) -> Policy:
        """The same policy, sharing more."""
        return self._replace(shares=self.shares + tuple(shares))

    def with_limits(self, **limits: float | str | None) -> Policy:
        """The same policy with other limits, named as options and policy files name them (``time``,
        ``memory``) or by their fields: numbers of seconds, bytes or things, or text such as ``30s``
        and ``512M``; None is no limit. Raises UsageError."""
        from wardian.sandbox.policy.setting import limits_set

        return self._replace(limits=limits_set(self.limits, limits))

    def allowing(self, *refusals: Refusal) -> Policy:
        """The same policy with what would allow these, the narrowest that does. It never gives less
        than before. Raises UsageError for a refusal that nothing would allow."""
        from wardian.sandbox.policy.grants import granted, grants_of

        return granted(self, grants_of(refusals))

    def with_env(self, values: Mapping[str, str]) -> Policy:
        """The same policy, with more variables set."""
        merged = dict(self.set_env) | dict(values)
        return self._replace(set_env=tuple(sorted(merged.items())))

    def without_rules(self, network: str) -> Policy:
        """The same policy with the network ``none`` or ``host``: nothing of one by name is left."""
        usual = Policy()
        return self._replace(
            network=network,
            allow_hosts=(),
            deny_hosts=(),
            tls=(),
            max_connections=usual.max_connections,
            max_per_second=usual.max_per_second,
            max_sent_bytes=usual.max_sent_bytes,
            max_received_bytes=usual.max_received_bytes,
        )

    def debugging(self) -> Policy:
        """The same policy, under which debuggers work on the guest's own processes."""
        denied = tuple(name for name in self.deny_syscalls if name not in DEBUG_CALLS)
        allowed = tuple(dict.fromkeys((*self.allow_syscalls, *DEBUG_CALLS)))
        return self._replace(allow_syscalls=allowed, deny_syscalls=denied)

    @property
    def digest(self) -> str:
        """Names this policy: equal policies have equal digests."""
        import hashlib

        limits = tuple(None if value is None else float(value) for value in self.limits)
        text = repr(tuple(self._replace(limits=Limits())) + limits)
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

    def __repr__(self) -> str:
        from wardian.sandbox.run.shown import policy_line

        return policy_line(self)

    def environment(self, host_env: Mapping[str, str]) -> dict[str, str]:
        """The variables that this policy gives the guest, the layout's own not included."""
        passed = {name: host_env[name] for name in self.pass_env if name in host_env}
        return passed | dict(self.set_env)


def check_limits(limits: Limits) -> None:
    """Raises UsageError for what is no limit; such as are usual cost no import."""
    for field, value in zip(Limits._fields, limits, strict=True):
        kinds = (int, float) if field.endswith("_s") else (int,)
        most = 1 << 62 if field.endswith("_bytes") else 10**9
        if value is not None and not (type(value) in kinds and 0 < value < most):
            from wardian.sandbox.policy.setting import check_each_limit

            return check_each_limit(limits)
    return None


def check_environment_name(name: str) -> str:
    """Return the name, or raise UsageError."""
    if not name or "=" in name or "\0" in name:
        raise UsageError(f"{name!r} can't be the name of an environment variable")
    return name


def read_default() -> dict[str, Any]:
    """The fields of the preset ``default`` as plain values; it shares nothing."""
    policy = Policy.preset(DEFAULT_PRESET)
    return policy._asdict() | {"limits": policy.limits._asdict()}
