"""Rules for the requests to a host, with real servers: what a rule allows works with ordinary
programs, what it does not is refused, the secret arrives there and is nowhere in the guest."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.command import COMMAND
from tests.network.conftest import PYTHON, Done, Internet
from tests.network.internet import REACHED

API = "api.example.com"
SECRET = "geheim-4711-k3y"
RULE = (
    '{methods = ["GET", "HEAD", "POST"], paths = ["/v1/*", "/echo/**", "/big/*", "/stream/*",'
    ' "/slow/*", "/early/*", "/files/**"],'
    ' secret = {header = "Authorization", prefix = "Bearer ", from = "env:API_KEY"}}'
)


def requests(
    internet: Internet,
    *words: str,
    rule: str = RULE,
    host: str = API,
    more: str = "",
    **env: str,
) -> Done:
    """A command under a policy that looks at the requests to one host."""
    policy = internet.directory / "requests.toml"
    policy.write_text(f'[network.tls]\n"{host}" = {rule}\n{more}')
    given = {"API_KEY": SECRET, "SSL_CERT_FILE": str(internet.directory / "ca.pem")} | env
    options = ("exec", "--json", "--time", "50s", "--policy", policy, "--", *words)
    return internet.run(*COMMAND, *options, env=given, timeout_s=90)


def refused(done: Done) -> list[tuple[str, str]]:
    return [
        (one["target"], one["reason"])
        for one in done.document["refusals"]
        if one["kind"] == "network"
    ]


def arrived(done: Done) -> list[str]:
    """Paths that reached a server."""
    return [one[4] for one in done.seen if one[0] == "web"]


# Programs

NODE = (
    "const go = async () => { const good = await fetch('https://api.example.com/v1/a');"
    " console.log(await good.text()); const bad = await fetch('https://api.example.com/v2/a',"
    " {method: 'DELETE'}); console.log(bad.status, await bad.text()) }; go()"
)
URLLIB = (
    "import urllib.request as u, urllib.error\n"
    "print(u.urlopen('https://api.example.com/v1/a').read().decode())\n"
    "try: u.urlopen(u.Request('https://api.example.com/v2/a', method='DELETE'))\n"
    "except urllib.error.HTTPError as error: print(error.code, error.read().decode())\n"
)
JAVA = """
import java.net.*; import java.net.http.*;
public class Get {
    public static void main(String[] args) throws Exception {
        var client = HttpClient.newHttpClient();
        for (var path : new String[] {"/v1/a", "/v2/a"}) {
            var request = HttpRequest.newBuilder(URI.create("https://api.example.com" + path));
            var got = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            System.out.println(got.statusCode() + " " + got.body());
        }
    }
}
"""
PROGRAMS = {
    "curl": ["curl", "-s", "https://api.example.com/v1/a", "https://api.example.com/v2/a"],
    "wget": [
        "sh", "-c",
        "wget -qO- https://api.example.com/v1/a;"
        " wget --content-on-error -qO- https://api.example.com/v2/a",
    ],
    "python3": [PYTHON, "-c", URLLIB],
    "node": ["node", "-e", NODE],
    "openssl": [
        "sh", "-c",
        "for p in v1 v2; do printf 'GET /%s/a HTTP/1.1\\r\\nHost: api.example.com\\r\\n"
        "Connection: close\\r\\n\\r\\n' $p | openssl s_client -quiet -verify_return_error"
        " -verify_quiet -connect api.example.com:443 -servername api.example.com; done",
    ],
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_makes_allowed_requests_and_no_others(internet: Internet, program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    for scrubbed in (False, True):  # with the variables, and by the system's own files alone
        words = PROGRAMS[program]
        if scrubbed:
            if program == "node":
                continue  # it has a list of its own, which only its variable adds to
            words = ["env", "-i", "PATH=/usr/bin:/bin", *words]
        done = requests(internet, *words)
        assert REACHED in done.document["stdout"], done.document["stderr"]
        assert "wardian: no rule allows this path" in done.document["stdout"]
        assert arrived(done) == ["/v1/a"]
        assert [one[1] for one in done.seen if one[0] == "secret"] == [[f"Bearer {SECRET}"]]
        assert SECRET not in done.stdout + done.stderr


def test_java_makes_allowed_requests_and_no_others(internet: Internet) -> None:
    found = [*Path("/usr/lib/jvm").glob("*/bin/java")] if shutil.which("java") else []
    if not found:
        pytest.skip("java is not installed")
    for java in sorted({path.resolve() for path in found}):
        if not (java.parent / "javac").exists():
            continue
        script = f"cat > Get.java <<'END'\n{JAVA}\nEND\n{java} Get.java"
        done = requests(internet, "sh", "-c", script)
        assert f"200 {REACHED}" in done.document["stdout"], (java, done.document["stderr"])
        assert "403 wardian: no rule allows this path" in done.document["stdout"]
        assert arrived(done) == ["/v1/a"]


def test_git_clones_from_a_host_whose_requests_are_looked_at(internet: Internet) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    made = (
        "rm -rf src files/one.git && mkdir -p src && cd src && git init -q && echo text > file &&"
        " git add file && git -c user.name=a -c user.email=a@b commit -qm one && cd .. &&"
        " git clone -q --bare src files/one.git && git -C files/one.git update-server-info"
    )
    assert internet.run("sh", "-c", made).code == 0
    done = requests(
        internet, "sh", "-c",
        "git clone -q https://api.example.com/files/one.git one && cat one/file;"
        " git clone -q https://api.example.com/v2/one.git two",
    )  # fmt: skip
    assert done.document["stdout"] == "text\n", done.document["stderr"]
    assert "403" in done.document["stderr"]
    assert not any(path.startswith("/v2") for path in arrived(done))


# Bodies


def test_bodies_stream_both_ways_and_connections_are_kept(internet: Internet) -> None:
    code = (
        "import http.client, json, ssl, time\n"
        "c = http.client.HTTPSConnection('api.example.com')\n"
        "def pieces():\n"
        "    for _ in range(100): yield bytes(100_000)\n"
        "c.request('POST', '/echo/a', body=pieces(), encode_chunked=True,\n"
        "          headers={'Transfer-Encoding': 'chunked', 'Trailer': 'X-A'})\n"
        "print(json.loads(c.getresponse().read())['body'])\n"
        "c.request('POST', '/echo/b', body=bytes(20_000_000))\n"
        "print(json.loads(c.getresponse().read())['body'])\n"
        "c.request('GET', '/big/30000000')\n"
        "print(len(c.getresponse().read()))\n"
        "c.request('HEAD', '/v1/x'); a = c.getresponse(); a.read(); print(a.status)\n"
        "began = time.monotonic()\n"
        "c.request('GET', '/stream/10')\n"
        "answer = c.getresponse(); first = answer.readline(); at = time.monotonic() - began\n"
        "rest = answer.read(); print(first.decode().strip(), rest.count(b'piece'),"
        " at < 0.4 < time.monotonic() - began)\n"
        "c.request('GET', '/v1/last'); a = c.getresponse(); a.read()\n"
        "print(a.status, c.sock is not None)\n"
        "c.request('GET', '/v2/bad'); print(c.getresponse().status)\n"
    )
    done = requests(internet, PYTHON, "-c", code)
    assert done.document["stdout"].split("\n")[:-1] == [
        "10000000", "20000000", "30000000", "200", "piece 0 9 True", "200 True", "403",
    ], done.document["stderr"]  # fmt: skip
    (one,) = done.document["connections"]
    assert (one["outcome"], one["reason"]) == ("refused", "no rule allows this path")
    assert one["bytes_out"] > 30_000_000
    assert one["bytes_in"] > 30_000_000
    assert arrived(done)[-1] == "/v1/last"


def test_a_client_that_waits_for_100_gets_it_and_an_early_answer(internet: Internet) -> None:
    line = (
        "head -c 3000000 /dev/zero > big; "
        "curl -s -H 'Expect: 100-continue' --data-binary @big https://api.example.com/echo/a; echo;"
        " curl -s -o /dev/null -w '%{http_code}\\n' --data-binary @big https://api.example.com/early/a;"
        " curl -s -w '%{http_code}\\n' -H 'Expect: 100-continue' -T big -X POST"
        " https://api.example.com/v2/a"
    )
    done = requests(internet, "sh", "-c", line)
    first, second, *rest = done.document["stdout"].splitlines()
    assert json.loads(first)["body"] == 3_000_000
    assert second == "413"
    assert rest == ["wardian: no rule allows this path", "403"]


def test_a_slow_reader_takes_no_memory(internet: Internet) -> None:
    code = (
        "import socket, ssl, time\n"
        "c = ssl.create_default_context().wrap_socket("
        "socket.create_connection(('api.example.com', 443)), server_hostname='api.example.com')\n"
        "c.sendall(b'GET /big/300000000 HTTP/1.1\\r\\nHost: api.example.com\\r\\n\\r\\n')\n"
        "c.recv(10); time.sleep(3)\n"
    )
    script = (
        "import resource, sys\nfrom wardian import Policy, Sandbox\n"
        f"policy = Policy.from_toml('requests.toml')\n"
        "with Sandbox.create(policy) as sandbox:\n"
        "    sandbox.run(['true'])\n"
        "    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"    result = sandbox.run([{PYTHON!r}, '-c', {code!r}])\n"
        "    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(after - before, result.connections[0].bytes_in)"
    )
    requests(internet, "true")  # writes the policy
    env = {"API_KEY": SECRET, "SSL_CERT_FILE": str(internet.directory / "ca.pem")}
    done = internet.run(COMMAND[0], "-P", "-c", script, env=env)
    grown, came = map(int, done.stdout.split())
    assert grown < 20_000, done.stderr  # kilobytes
    assert came < 20_000_000


# The secret


def test_the_secret_is_nowhere_in_the_guest(internet: Internet) -> None:
    code = (
        "import os, subprocess\n"
        f"wanted = {SECRET[::-1]!r}[::-1].encode()\n"
        "print(subprocess.run(['curl', '-s', 'https://api.example.com/v1/a'], capture_output=True,"
        " text=True).stdout)\n"
        "def look(path):\n"
        "    try:\n"
        "        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)\n"
        "        data = os.read(fd, 4 << 20); os.close(fd)\n"
        "    except (OSError, ValueError): return\n"
        "    looked.append(path)\n"
        "    if wanted in data and str(os.getpid()) not in path: print('FOUND', path)\n"
        "looked = []\n"
        "for root in ('/etc', '/home', '/tmp', '/work', '/run', '/var', '/dev/shm'):\n"
        "    for folder, _, files in os.walk(root):\n"
        "        for name in files: look(os.path.join(folder, name))\n"
        "for pid in [p for p in os.listdir('/proc') if p.isdigit()]:\n"
        "    for name in ('environ', 'cmdline', 'maps', 'auxv', 'status', 'mem'):\n"
        "        look(f'/proc/{pid}/{name}')\n"
        "    try:\n"
        "        for fd in os.listdir(f'/proc/{pid}/fd'): look(f'/proc/{pid}/fd/{fd}')\n"
        "    except OSError: pass\n"
        "for name in os.environ.values():\n"
        "    if wanted.decode() in name: print('FOUND in the environment')\n"
        "print(len(looked) > 100)\n"
    )
    done = requests(internet, PYTHON, "-c", code)
    assert done.document["stdout"].startswith(REACHED)
    assert done.document["stdout"].endswith("True\n")
    assert "FOUND" not in done.document["stdout"]
    assert [one[1] for one in done.seen if one[0] == "secret"] == [[f"Bearer {SECRET}"]]


def test_the_key_of_the_authority_is_nowhere_in_the_guest(internet: Internet) -> None:
    line = "grep -rlsE 'BEGIN (EC )?PRIVATE KEY' /etc /tmp /home /work /proc/1/environ; echo looked"
    done = requests(internet, "sh", "-c", line)
    assert done.document["stdout"] == "looked\n"


def test_the_secret_is_in_no_record_trace_or_policy(internet: Internet) -> None:
    requests(internet, "true")
    env = {"API_KEY": SECRET, "SSL_CERT_FILE": str(internet.directory / "ca.pem")}
    curl = ("--", "curl", "-s", "https://api.example.com/v1/a", "https://api.example.com/v2/a")
    kept = internet.directory / "kept"
    record = ("--policy", "requests.toml", "--record", kept, "-v", *curl)
    texts = [internet.run(*COMMAND, "exec", *record, env=env)]
    texts.append(
        internet.run(*COMMAND, "trace", "--json", "--policy", "requests.toml", *curl, env=env)
    )
    texts.append(internet.run(*COMMAND, "policy", "show", "--policy", "requests.toml", env=env))
    for done in texts:
        assert done.code == 0, done.stderr
        assert SECRET not in done.stdout + done.stderr
    files = [path for path in kept.rglob("*") if path.is_file()]
    assert files
    assert not any(SECRET.encode() in path.read_bytes() for path in files)


def test_what_the_guest_sends_in_its_place_does_not_arrive(internet: Internet) -> None:
    line = (
        "curl -s -H 'Authorization: mine' -H 'AUTHORIZATION: mine' -H 'authorization;'"
        " https://api.example.com/v1/a;"
        " curl -s -H 'Connection: Authorization, close' https://api.example.com/v1/b;"
        " curl -s --http1.0 https://api.example.com/v1/c"
    )
    done = requests(internet, "sh", "-c", line)
    assert [one[1] for one in done.seen if one[0] == "secret"] == [[f"Bearer {SECRET}"]] * 3
    for variant in ("X_Api_Key", "x-api_key"):
        rule = '{secret = {header = "X-Api-Key", from = "env:API_KEY"}}'
        done = requests(
            internet, "curl", "-s", "-H", f"{variant}: mine", "https://api.example.com/echo/a",
            rule=rule,
        )  # fmt: skip
        sent = dict(json.loads(done.document["stdout"])["headers"])
        assert {k: v for k, v in sent.items() if "pi" in k.lower()} == {"X-Api-Key": SECRET}


def test_a_secret_goes_to_its_host_alone(internet: Internet) -> None:
    more = '"six.example.com" = {}\n[network]\nallow = ["other.example.org"]\n'
    more = '"six.example.com" = {}\n'
    line = "curl -s https://six.example.com/v1/a https://api.example.com/v1/b"
    done = requests(internet, "sh", "-c", line, more=more)
    assert done.document["stdout"].count(REACHED) == 2
    assert [one[2] for one in done.seen if one[0] == "secret"] == ["/v1/b"]


def test_a_secret_comes_from_a_file_that_the_guest_has_not(internet: Internet) -> None:
    key = internet.directory / "key.txt"
    key.write_text(f"{SECRET}\n")
    rule = f'{{secret = {{header = "Authorization", from = "file:{key}"}}}}'
    done = requests(internet, "curl", "-s", "https://api.example.com/v1/a", rule=rule)
    assert [one[1] for one in done.seen if one[0] == "secret"] == [[SECRET]]
    policy = internet.directory / "requests.toml"
    done = internet.run(
        *COMMAND, "exec", "--policy", policy, "--read", internet.directory, "--", "true"
    )
    assert done.code == 125
    assert "is a secret of [network.tls], and lies in" in done.stderr


def test_a_secret_that_can_not_be_had_or_kept_is_an_error(internet: Internet) -> None:
    done = requests(internet, "true", API_KEY="")
    assert done.code == 125
    assert "the variable API_KEY, which is not set here" in done.stderr
    assert requests(internet, "true", API_KEY="a\nb").code == 125
    policy = internet.directory / "requests.toml"
    done = internet.run(
        *COMMAND, "exec", "--policy", policy, "--env", "API_KEY", "--", "true",
        env={"API_KEY": SECRET},
    )  # fmt: skip
    assert done.code == 125
    assert "gives it to the guest, too" in done.stderr
    assert SECRET not in done.stderr


# What is refused, and how it is reported


def test_a_refused_request_has_its_narrowest_rule_which_works(internet: Internet) -> None:
    words = ("curl", "-s", "-X", "DELETE", "https://api.example.com/v2/a?token=1")
    done = requests(internet, *words)
    (one,) = [r for r in done.document["refusals"] if r["action"] == "request"]
    assert one["target"] == "DELETE https://api.example.com/v2/a"
    assert one["process"]["command"].startswith("curl -s -X DELETE")
    assert one["allow"] == {
        "flag": "--policy FILE",
        "policy": '[network.tls]\n"api.example.com" = {methods = ["DELETE"], paths = ["/v2/a"]}',
    }
    narrow = one["allow"]["policy"].split(" = ", 1)[1]
    again = requests(internet, *words, rule=f"[{RULE}, {narrow}]")
    assert arrived(again) == ["/v2/a?token=1"]
    assert [x for x in again.document["refusals"] if x["action"] == "request"] == []
    live = internet.run(
        *COMMAND, "exec", "--policy", "requests.toml", "--", "curl", "-s", "https://api.example.com/x",
        env={"API_KEY": SECRET},
    )  # fmt: skip
    assert "wardian: blocked request GET https://api.example.com/x" in live.stderr


def test_limits_hold_for_requests_too(internet: Internet) -> None:
    line = "curl -s https://api.example.com/big/900000 https://api.example.com/big/900000 | wc -c"
    more = '[network]\nmax_received = "1M"\n'
    policy = internet.directory / "limited.toml"
    policy.write_text(f'{more}[network.tls]\n"{API}" = {RULE}\n')
    env = {"API_KEY": SECRET, "SSL_CERT_FILE": str(internet.directory / "ca.pem")}
    done = internet.run(
        *COMMAND, "exec", "--json", "--policy", policy, "--", "sh", "-c", line, env=env
    )
    assert 900_000 <= int(done.document["stdout"]) <= 1 << 20
    assert any(
        "more than 1048576 bytes received" in c["reason"] for c in done.document["connections"]
    )


def test_withdrawing_ends_a_connection_whose_requests_are_looked_at(internet: Internet) -> None:
    requests(internet, "true")
    script = (
        "import threading, time\nfrom wardian import Policy, Sandbox\n"
        "policy = Policy.from_toml('requests.toml')\n"
        "with Sandbox.create(policy, fresh=True) as sandbox:\n"
        "    words = ['curl', '-s', '-m', '30', 'https://api.example.com/slow/20']\n"
        "    process = sandbox.start(words)\n"
        "    time.sleep(2)\n"
        "    began = time.monotonic()\n"
        "    sandbox.network.withdraw('api.example.com:443')\n"
        "    result = process.wait(20)\n"
        "    print(result.exit_code, round(time.monotonic() - began) < 5,"
        " result.connections[0].reason)\n"
        "    time.sleep(0.5)\n"
        "    print([t.name for t in threading.enumerate()])\n"
    )
    env = {"API_KEY": SECRET, "SSL_CERT_FILE": str(internet.directory / "ca.pem")}
    done = internet.run(COMMAND[0], "-P", "-c", script, env=env)
    code, quick, *reason = done.stdout.splitlines()[0].split()
    assert code != "0"
    assert quick == "True"
    assert " ".join(reason) == "the rule was withdrawn"
    assert done.stdout.splitlines()[1] == "['MainThread']"


def test_a_run_without_such_rules_loads_nothing_of_it(internet: Internet) -> None:
    script = (
        "import sys\nfrom wardian import Policy, Sandbox\n"
        "policy = Policy.default().but(network='names', allow_hosts=('api.example.com',))\n"
        "with Sandbox.create(policy) as sandbox:\n"
        "    result = sandbox.run(['sh', '-c', 'ls -d /etc/wardian; env'])\n"
        "print([m for m in ('cryptography', 'h11', 'ssl') if m in sys.modules], result.text)"
    )
    done = internet.run(COMMAND[0], "-P", "-c", script)
    assert done.stdout.startswith("[] ")
    assert "SSL_CERT_FILE" not in done.stdout


def test_without_the_extra_it_is_an_error_that_names_it(internet: Internet) -> None:
    requests(internet, "true")
    script = (
        "import sys\nsys.modules['h11'] = None\nfrom wardian import Policy, Sandbox\n"
        "with Sandbox.create(Policy.from_toml('requests.toml')) as sandbox:\n"
        "    try: sandbox.run(['true'])\n"
        "    except Exception as error: print(type(error).__name__, error.hint)\n"
    )
    done = internet.run(COMMAND[0], "-P", "-c", script, env={"API_KEY": SECRET})
    assert done.stdout == "UsageError pip install 'wardian[tls]'\n", done.stderr


def test_nothing_is_left_of_it_outside(internet: Internet, tmp_path: Path) -> None:
    done = requests(internet, "true", TMPDIR=str(tmp_path))
    assert done.code == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


# Files


BAD: dict[str, Any] = {
    '"*.example.com" = {}': "one whole name",
    '"10.1.2.3" = {}': "is an address",
    f'"{API}" = {{methods = ["get"]}}': "'get' is no method",
    f'"{API}" = {{methods = ["CONNECT"]}}': "'CONNECT' is no method",
    f'"{API}" = {{methods = []}}': "an empty list allows nothing",
    f'"{API}" = {{paths = ["v1"]}}': "'v1' is no path",
    f'"{API}" = {{paths = ["/v1/%2f"]}}': "%2F, which servers read differently",
    f'"{API}" = {{paths = ["/v1/a**"]}}': "** stands for whole parts",
    f'"{API}" = {{path = ["/v1"]}}': "unknown key 'path'",
    f'"{API}" = {{secret = {{header = "Host", from = "env:A"}}}}': "'Host' is no header",
    f'"{API}" = {{secret = {{header = "A", from = "A"}}}}': "neither env:NAME nor file:/PATH",
    f'"{API}" = {{secret = {{header = "A"}}}}': "a secret has a header and a place",
    f'"{API}" = {{secret = {{header = "A", from = "env:A", prefix = "\\n"}}}}': "prefix",
}


@pytest.mark.parametrize("line", BAD)
def test_a_mistake_in_a_file_has_its_place(tmp_path: Path, line: str) -> None:
    from wardian.errors import PolicyError
    from wardian.sandbox.policy.policy import Policy

    path = tmp_path / "policy.toml"
    path.write_text(f"[network.tls]\n\n{line}\n")
    with pytest.raises(PolicyError) as caught:
        Policy.from_toml(path)
    assert BAD[line] in f"{caught.value} {caught.value.hint}"
    assert (caught.value.line, caught.value.column) == (3, 1)


def test_a_policy_with_such_rules_reads_as_it_is_written(tmp_path: Path) -> None:
    from wardian import Policy, Secret, TlsRule

    secret = Secret("Authorization", "env:API_KEY", "Bearer ")
    policy = Policy.default().but(
        network="names",
        tls=(TlsRule(API, ("GET",), ("/v1/*",), secret), TlsRule(API, ("POST",)), TlsRule("b.c")),
    )
    path = tmp_path / "policy.toml"
    path.write_text(policy.to_toml())
    assert Policy.from_toml(path) == policy
    assert policy.digest != policy.but(tls=policy.tls[:2]).digest
    assert policy.without_rules("host").tls == ()


def test_rules_that_a_program_made_are_as_strict(tmp_path: Path) -> None:
    from wardian import Policy, Sandbox, Secret, TlsRule
    from wardian.errors import UsageError

    for rule in (
        TlsRule("API.example.com"),
        TlsRule("api.example.com."),
        TlsRule(API, ("get",)),
        TlsRule(API, (), ("/v1/%61",)),
        TlsRule(API, (), ("/v1/../*",)),
        TlsRule(API, (), (), Secret("Host", "env:HOME")),
        TlsRule(API, (), (), Secret("A", "env:HOME", "\r\nB: c")),
    ):
        policy = Policy.default().but(network="names", tls=(rule,))
        with Sandbox.create(policy) as sandbox, pytest.raises(UsageError):
            sandbox.run(["true"])
