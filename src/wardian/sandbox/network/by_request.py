"""Rules for the requests to hosts (``[network.tls]``), ready for use: the authority, what the guest
trusts by it, and the secrets, which stay here."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from wardian.errors import PolicyError, UsageError, WardianError
from wardian.sandbox.network.dialing import Dialled
from wardian.sandbox.network.relay import Allowance
from wardian.sandbox.policy.policy import Policy, Secret
from wardian.sandbox.policy.tls import check_rules
from wardian.sandbox.root.shares import Source, is_below

try:
    from wardian.sandbox.network.terminating import (
        HostRequests,
        RefusedRequest,
        Session,
        SessionEnd,
    )
    from wardian.sandbox.network.trust import Authority, GuestTrust
except ModuleNotFoundError as missing:
    raise UsageError(
        f"rules for requests ([network.tls]) need a package that is not installed: {missing.name}",
        hint="pip install 'wardian[tls]'",
    ) from None

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_SECRET = 16 << 10


class ByRequest:
    """Of one sandbox. Its guests get ``sources`` and ``variables``."""

    def __init__(self, policy: Policy, shared: Sequence[Source]) -> None:
        """``shared``: what the guest can read. Raises UsageError, PolicyError and SandboxError."""
        check_rules(policy.tls)
        hosts = tuple(dict.fromkeys(rule.host for rule in policy.tls))
        self._hosts = {
            host: HostRequests(
                host,
                tuple(rule for rule in policy.tls if rule.host == host),
                tuple(
                    (one.header, one.prefix + _value(one, policy, shared))
                    for one in _secrets(policy, host)
                ),
            )
            for host in hosts
        }
        self._authority = Authority(hosts)
        java = any(map(os.path.isdir, ("/usr/lib/jvm", f"{policy.rootfs or ''}/usr/lib/jvm")))
        self._trust = GuestTrust(self._authority, system=policy.rootfs is None, java=java)
        self.sources: Sequence[Source] = self._trust.sources
        self.variables: Mapping[str, str] = self._trust.variables
        self.path = self._trust.path
        self._outside = ssl.create_default_context()
        self._outside.set_alpn_protocols(["http/1.1"])

    def has(self, name: str | None) -> bool:
        """Are requests to this name looked at?"""
        return name in self._hosts

    def session(
        self,
        name: str,
        inside: socket.socket,
        head: bytes,
        dialled: Dialled,
        *,
        redial: Callable[[], Dialled],
        allowances: tuple[Allowance, Allowance],
        on_refused: Callable[[RefusedRequest], None],
        on_end: Callable[[SessionEnd], None],
    ) -> Session:
        """For one connection whose first words were for this name."""
        return Session(
            self._hosts[name],
            inside,
            head,
            dialled,
            context=self._authority.context(name),
            outside_context=self._outside,
            redial=redial,
            allowances=allowances,
            on_refused=on_refused,
            on_end=on_end,
        )


def _secrets(policy: Policy, host: str) -> list[Secret]:
    found = [rule.secret for rule in policy.tls if rule.host == host and rule.secret is not None]
    return list({one.header.lower(): one for one in found}.values())


def _value(secret: Secret, policy: Policy, shared: Sequence[Source]) -> str:
    kind, _, place = secret.source.partition(":")
    if kind == "env":
        value = os.environ.get(place, "")
        if not value:
            raise UsageError(
                f"the secret for {secret.header} comes from the variable {place}, which is not"
                " set here",
                hint=f"set {place} for wardian itself; the guest does not get it",
            )
        if place in policy.environment(os.environ):
            raise UsageError(
                f"{place} is a secret of [network.tls], and the policy gives it to the guest, too",
                hint=f"remove {place} from the run's environment",
            )
    else:
        value = _from_file(os.path.expanduser(place), shared)
    if not value.isascii() or not value.isprintable() or value != value.strip():
        raise UsageError(f"what {secret.source} has can't be the value of a header")
    return value


def _from_file(path: str, shared: Sequence[Source]) -> str:
    from wardian.sandbox.paths.whole_files import read_decisive

    real = os.path.realpath(path)
    for source in shared:
        if is_below(real, source.path):
            raise UsageError(
                f"{path} is a secret of [network.tls], and lies in {source.path}, which is shared",
                hint="keep it outside of what is shared",
            )
    try:
        return read_decisive(path, LONGEST_SECRET, PolicyError).decode("ascii").strip("\r\n")
    except UnicodeDecodeError:
        raise UsageError(f"what file:{path} has can't be the value of a header") from None
    except WardianError as error:
        raise UsageError(f"the secret in {path}: {error}", hint=error.hint) from None
