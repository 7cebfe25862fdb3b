"""``wardian forward``: make a port of a living sandbox reachable on the host's loopback."""

from __future__ import annotations

import sys

import click

from wardian.cli import output
from wardian.errors import UsageError


@click.command(
    "forward",
    epilog="""\b
Examples:
  wardian forward dev 8000
  wardian forward dev 8000:18000

\b
Exit code: 0 the sandbox ended, 2 usage, 3 no such sandbox, 130 Ctrl-C.""",
)
@click.argument("name")
@click.argument("port", metavar="PORT[:HOSTPORT]")
def command(name: str, port: str) -> None:
    """Forward PORT of sandbox NAME to 127.0.0.1 on this host, until Ctrl-C.

    Prints the address: HOSTPORT, or a free port. Every user of this machine can connect to it. The
    sandbox does not count as idle while a port is forwarded.
    """
    from wardian.living.client import ask, connect
    from wardian.living.wire import field

    inside, outside = _ports(port)
    channel = connect(name)
    try:
        fields = [field("port", inside), field("host_port", outside)]
        found = ask(channel, "forward", fields, name=name).number("host_port")
        output.print_text(f"127.0.0.1:{found}")
        sys.stdout.flush()
        channel.sock.settimeout(None)
        channel.receive()
    except OSError:
        pass  # the sandbox ended
    finally:
        channel.close()


def _ports(text: str) -> tuple[int, int]:
    inside, colon, outside = text.partition(":")
    numbers = [inside, outside] if colon else [inside]
    if not all(
        one.isascii() and one.isdigit() and len(one) <= 5 and 0 < int(one) < 1 << 16
        for one in numbers
    ):
        raise UsageError(f"{text!r} is not PORT or PORT:HOSTPORT", hint="for example: 8000:18000")
    return int(inside), int(outside) if colon else 0
