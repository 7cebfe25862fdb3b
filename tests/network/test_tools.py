"""Programs that people use, none of them told of a proxy: each reaches the name that a rule allows,
is refused another with the rule that would allow it, and with that rule reaches it."""

from __future__ import annotations

import shlex
import shutil
import sys
from typing import NamedTuple

import pytest

from tests.network.conftest import PYTHON, Done, Internet
from tests.network.internet import OTHER, PUBLIC

API, ANOTHER = "api.example.com", "other.example.org"
CA = "@CA@"
FETCH = "fetch('http://@HOST@/x').then(r => r.text()).then(console.log)"
NODE_HTTPS = "require('https').get('https://@HOST@/x', r => r.pipe(process.stdout))"
URLLIB = "import urllib.request as u; print(u.urlopen('https://@HOST@/x').read().decode())"
REQUESTS = "import requests; print(requests.get('https://@HOST@/x').text)"
ASYNC = """
import asyncio
async def main():
    reader, writer = await asyncio.open_connection('@HOST@', 80)
    writer.write(b'GET /x HTTP/1.1\\r\\nHost: @HOST@\\r\\nConnection: close\\r\\n\\r\\n')
    print((await reader.read()).decode())
asyncio.run(main())
"""


class Tool(NamedTuple):
    """``@HOST@`` stands for the host, ``@CA@`` for the file of the authority, ``@DIR@`` for the
    directory of the internet, which is shared. A program that speaks to the server in vain has
    ``port``, and counts as one that works if it got there."""

    name: str
    command: tuple[str, ...]
    env: tuple[str, ...] = ()
    port: int | None = None
    slow: bool = False


TOOLS = [
    Tool("curl", ("curl", "-sS", "http://@HOST@/x")),
    Tool("curl over TLS", ("curl", "-sS", "--cacert", CA, "https://@HOST@/x")),
    Tool("wget", ("wget", "-qO-", "http://@HOST@/x")),
    Tool("wget over TLS", ("wget", "-qO-", f"--ca-certificate={CA}", "https://@HOST@/x")),
    Tool("Python urllib", (PYTHON, "-c", URLLIB), (f"SSL_CERT_FILE={CA}",)),
    Tool("Python asyncio", (PYTHON, "-c", ASYNC)),
    Tool("Python requests", (sys.executable, "-c", REQUESTS), (f"REQUESTS_CA_BUNDLE={CA}",)),
    Tool(
        "pip",
        (
            PYTHON, "-m", "pip", "download", "--cert", CA, "--no-cache-dir", "-d", "/tmp/wheels",
            "-i", "https://@HOST@/files/simple/", "tiny",
        ),
        slow=True,
    ),
    Tool(
        "uv",
        (
            "@DIR@/uv", "pip", "install", "--no-cache", "--target", "/tmp/target", "--python",
            PYTHON, "--default-index", "https://@HOST@/files/simple/", "tiny",
        ),
        (f"SSL_CERT_FILE={CA}",),
    ),
    Tool("node fetch", ("node", "-e", FETCH)),
    Tool("node https", ("node", "-e", NODE_HTTPS), (f"NODE_EXTRA_CA_CERTS={CA}",)),
    Tool(
        "npm",
        (
            "npm", "view", "--fetch-retries=0", "--cafile", CA, "--registry",
            "https://@HOST@/files/npm/", "tiny",
        ),
        slow=True,
    ),
    Tool("git", ("git", "ls-remote", "https://@HOST@/files/repo.git"), (f"GIT_SSL_CAINFO={CA}",)),
    Tool("git over ssh", ("git", "ls-remote", "git@@HOST@:repo.git"),
         ("GIT_SSH_COMMAND=ssh -o StrictHostKeyChecking=no",), port=22),
    Tool("ssh", ("ssh", "-o", "StrictHostKeyChecking=no", "git@@HOST@"), port=22),
    Tool("java", ("java", "-XX:TieredStopAtLevel=1", "@DIR@/F.java", "http://@HOST@/x"), slow=True),
    Tool("perl", ("perl", "-MHTTP::Tiny", "-e",
                  "my $r = HTTP::Tiny->new->get('http://@HOST@/x'); print $r->{content};"
                  "exit !$r->{success}")),
    Tool("ruby", ("ruby", "-rnet/http", "-e", "puts Net::HTTP.get(URI('https://@HOST@/x'))"),
         (f"SSL_CERT_FILE={CA}",)),
    Tool("R", ("Rscript", "-e", "cat(readLines(url('http://@HOST@/x')))")),
    Tool("php", ("php", "-r", "echo file_get_contents('http://@HOST@/x') or exit(1);")),
    Tool("psql", ("psql", "-w", "-h", "@HOST@", "-U", "me", "db"), port=5432),
    Tool("openssl", ("openssl", "s_client", "-verify_return_error", "-CAfile", CA, "-connect",
                     "@HOST@:443"), port=443),
    Tool("bash", ("bash", "-c",
                  "exec 3<>/dev/tcp/@HOST@/80; printf 'GET / HTTP/1.1\\r\\nHost: @HOST@\\r\\n"
                  "Connection: close\\r\\n\\r\\n' >&3; cat <&3")),
    Tool("socat", ("socat", "-", "TCP:@HOST@:9999"), port=9999),
    Tool("nc", ("nc", "-w", "1", "@HOST@", "9999"), port=9999),
    Tool("a static program", ("@DIR@/static", "@HOST@")),
]  # fmt: skip


def missing(tool: Tool, internet: Internet) -> str | None:
    program = tool.command[0].replace("@DIR@", str(internet.directory))
    if shutil.which(program) is None:
        return f"{program} is not installed"
    if tool.name == "Python requests" and not has_module("requests"):
        return "requests is not installed"
    return None


def has_module(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


def use(tool: Tool, host: str, internet: Internet, *rules: str) -> Done:
    directory = internet.directory

    def filled(word: str) -> str:
        word = word.replace(CA, str(directory / "ca.pem")).replace("@DIR@", str(directory))
        return word.replace("@HOST@", host)

    nets = [word for rule in rules for word in ("--net", rule)]
    env = [word for one in tool.env for word in ("--env", filled(one))]
    return internet.exec(
        *nets, *env, "--read", directory, "--", *map(filled, tool.command), timeout_s=90
    )


def succeeded(tool: Tool, done: Done, address: str) -> bool:
    visits = [one for one in done.visits if one[0] in ("web", "text", "sni")]
    if tool.port is not None:
        return bool(visits)
    reached = any(one[0] == "web" and one[1] == address for one in visits)
    return bool(done.document["exit_code"] == 0 and reached)


@pytest.mark.parametrize(
    "tool",
    [
        pytest.param(tool, id=tool.name, marks=[pytest.mark.long] if tool.slow else [])
        for tool in TOOLS
    ],
)
def test_a_tool_reaches_what_is_allowed_and_is_told_what_would_allow_the_rest(
    tool: Tool, stocked: Internet
) -> None:
    why = missing(tool, stocked)
    if why is not None:
        pytest.skip(why)
    suffix = f":{tool.port}" if tool.port not in (None, 443) else ""
    allowed = API + suffix
    done = use(tool, API, stocked, allowed)
    assert succeeded(tool, done, PUBLIC), (done.document, done.seen)
    assert not [r for r in done.document["refusals"] if r["kind"] == "network"]

    rules, flags = [allowed], []
    for _ in range(3):  # first the name, then perhaps its port
        done = use(tool, ANOTHER, stocked, *rules)
        if succeeded(tool, done, OTHER):
            break
        assert done.visits == []
        refusal = next(r for r in done.document["refusals"] if r["kind"] == "network")
        assert ANOTHER in refusal["target"]
        assert refusal["process"]["command"]
        flags.append(refusal["allow"]["flag"])
        assert shlex.split(flags[-1])[0] == "--net"
        rules.append(shlex.split(flags[-1])[1])
    else:
        pytest.fail(f"no remedy helped: {flags}")
    assert flags == [f"--net {ANOTHER}", *([f"--net {ANOTHER}{suffix}"] if suffix else [])]
