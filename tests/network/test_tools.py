"""Programs that people use, none of them told of a proxy: each reaches the name that a rule allows,
is refused another with the rule that would allow it, and with that rule reaches it."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.network.conftest import PYTHON, Done, Internet
from tests.network.internet import OTHER, PUBLIC, REACHED
from tests.network.servers import POSTGRES, REDIS, SERVERS, SSH
from tests.network.stock import BUILDS

CLIENT = "ssh -i @DIR@/ssh/id -o BatchMode=yes"
CLIENT += " -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
API, ANOTHER = "api.example.com", "other.example.org"
CA = "@CA@"
FETCH = "fetch('http://@HOST@/x').then(r => r.text()).then(console.log)"
NODE_HTTPS = "require('https').get('https://@HOST@/x', r => r.pipe(process.stdout))"
URLLIB = "import urllib.request as u; print(u.urlopen('https://@HOST@/x').read().decode())"
REQUESTS = "import requests; print(requests.get('https://@HOST@/x').text)"
HTTPX = "import httpx; print(httpx.get('https://@HOST@/x').text)"
AIOHTTP = """
import asyncio, aiohttp
async def main():
    async with aiohttp.ClientSession() as session, session.get('https://@HOST@/x') as answer:
        print(await answer.text())
asyncio.run(main())
"""
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
    directory of the internet, which is shared, ``@USER@`` for who logs in by ssh. A program that
    speaks to the server in vain has ``port``, and counts as one that works if it got there."""

    name: str
    command: tuple[str, ...]
    env: tuple[str, ...] = ()
    port: int | None = None
    slow: bool = False
    server: str | None = None  # of its own program, and what the tool prints if it got there
    prints: str = REACHED


TOOLS = [
    Tool("curl", ("curl", "-sS", "http://@HOST@/x")),
    Tool("curl over TLS", ("curl", "-sS", "--cacert", CA, "https://@HOST@/x")),
    Tool("wget", ("wget", "-qO-", "http://@HOST@/x")),
    Tool("wget over TLS", ("wget", "-qO-", f"--ca-certificate={CA}", "https://@HOST@/x")),
    Tool("Python urllib", (PYTHON, "-c", URLLIB), (f"SSL_CERT_FILE={CA}",)),
    Tool("Python asyncio", (PYTHON, "-c", ASYNC)),
    Tool("Python requests", (sys.executable, "-c", REQUESTS), (f"REQUESTS_CA_BUNDLE={CA}",)),
    Tool("Python httpx", (sys.executable, "-c", HTTPX), (f"SSL_CERT_FILE={CA}",)),
    Tool("Python aiohttp", (sys.executable, "-c", AIOHTTP), (f"SSL_CERT_FILE={CA}",)),
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
    Tool("git over ssh", ("git", "ls-remote", f"ssh://@USER@@@HOST@:{SSH}@DIR@/files/repo.git"),
         (f"GIT_SSH_COMMAND={CLIENT}",), server="sshd", port=SSH, prints="refs/heads/main"),
    Tool("ssh", (*CLIENT.split(), "-p", str(SSH), "@USER@@@HOST@", "cat", "@DIR@/ssh/greeting"),
         server="sshd", port=SSH),
    Tool("scp", ("sh", "-c", f"{CLIENT.replace('ssh', 'scp', 1)} -P {SSH} "
                 "@USER@@@HOST@:@DIR@/ssh/greeting /tmp/got && cat /tmp/got"),
         server="sshd", port=SSH),
    Tool("java", ("java", "-XX:TieredStopAtLevel=1", "@DIR@/F.java", "http://@HOST@/x"), slow=True),
    Tool("perl", ("perl", "-MHTTP::Tiny", "-e",
                  "my $r = HTTP::Tiny->new->get('http://@HOST@/x'); print $r->{content};"
                  "exit !$r->{success}")),
    Tool("ruby", ("ruby", "-rnet/http", "-e", "puts Net::HTTP.get(URI('https://@HOST@/x'))"),
         (f"SSL_CERT_FILE={CA}",)),
    Tool("R", ("Rscript", "-e", "cat(readLines(url('http://@HOST@/x')))")),
    Tool("php", ("php", "-r", "echo file_get_contents('http://@HOST@/x') or exit(1);")),
    Tool("psql", ("psql", "-h", "@HOST@", "-p", str(POSTGRES), "-U", "tester", "-d", "postgres",
                  "-Atc", f"select '{REACHED}'"), server="postgres", port=POSTGRES),
    Tool("redis-cli", ("redis-cli", "-h", "@HOST@", "-p", str(REDIS), "ECHO", REACHED),
         server="redis", port=REDIS),
    Tool("openssl", ("openssl", "s_client", "-verify_return_error", "-CAfile", CA, "-connect",
                     "@HOST@:443"), port=443),
    Tool("bash", ("bash", "-c",
                  "exec 3<>/dev/tcp/@HOST@/80; printf 'GET / HTTP/1.1\\r\\nHost: @HOST@\\r\\n"
                  "Connection: close\\r\\n\\r\\n' >&3; cat <&3")),
    Tool("socat", ("socat", "-", "TCP:@HOST@:9999"), port=9999),
    Tool("nc", ("nc", "-w", "1", "@HOST@", "9999"), port=9999),
    Tool("a static C program", ("@DIR@/static-c", "@HOST@")),
    Tool("a static Go program", ("@DIR@/static-go", "@HOST@")),
    Tool("a static Rust program", ("@DIR@/static-rust", "@HOST@")),
]  # fmt: skip


@pytest.fixture(scope="session")
def started(stocked: Internet) -> Callable[[str], None]:
    """Starts a real server, once."""
    running: set[str] = set()

    def start(name: str) -> None:
        if name not in running:
            server = SERVERS[name](stocked.directory)
            stocked.start(server.argv, server.port)
            running.add(name)

    return start


def missing(tool: Tool, internet: Internet) -> str | None:
    program = tool.command[0].replace("@DIR@", str(internet.directory))
    if shutil.which(program) is None:
        maker = next((b[0] for b, _ in BUILDS if program.endswith(b[b.index("-o") + 1])), program)
        return f"{maker} is not installed"
    name = tool.name.removeprefix("Python ")
    if program == sys.executable and not has_module(name):
        return f"{name} is not installed"
    return None


def has_module(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


def use(tool: Tool, host: str, internet: Internet, *rules: str) -> Done:
    directory = internet.directory
    who = (directory / "ssh/user").read_text() if tool.server == "sshd" else ""

    def filled(word: str) -> str:
        word = word.replace(CA, str(directory / "ca.pem")).replace("@DIR@", str(directory))
        return word.replace("@USER@", who).replace("@HOST@", host)

    nets = [word for rule in rules for word in ("--net", rule)]
    env = [word for one in tool.env for word in ("--env", filled(one))]
    return internet.exec(
        *nets, *env, "--read", directory, "--", *map(filled, tool.command), timeout_s=90
    )


def succeeded(tool: Tool, done: Done, address: str) -> bool:
    if tool.server is not None:
        result = done.document
        there = {one["address"] for one in result["connections"]} == {address}
        return bool(result["exit_code"] == 0 and tool.prints in result["stdout"] and there)
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
    tool: Tool, stocked: Internet, started: Callable[[str], None]
) -> None:
    why = missing(tool, stocked)
    if why is not None:
        pytest.skip(why)
    if tool.server is not None:
        started(tool.server)
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
