"""Ways around the rules for requests: a guest that may ``GET /v1/ok`` of one host tries the rest.

Nothing but that request may arrive at any server, the secret goes nowhere else, and what is
allowed works before and after.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.command import COMMAND
from tests.network.conftest import PYTHON, Done, Internet
from tests.network.test_requests import SECRET

API = "api.example.com"
RULE = (
    '{methods = ["GET"], paths = ["/v1/ok"],'
    ' secret = {header = "Authorization", prefix = "Bearer ", from = "env:API_KEY"}}'
)
PRELUDE = r"""
import os, socket, ssl, struct, sys, time
HOST = 'api.example.com'
def tls(sni=HOST, at=HOST, alpn=None, **options):
    context = ssl.create_default_context()
    for name, value in options.items(): setattr(context, name, value)
    if sni != HOST:
        context.check_hostname = False; context.verify_mode = ssl.CERT_NONE
    if alpn: context.set_alpn_protocols(alpn)
    return context.wrap_socket(socket.create_connection((at, 443), 8), server_hostname=sni)
def hear(one):
    one.settimeout(4); out = b''
    try:
        while piece := one.recv(65536): out += piece
    except OSError as error: print('END', error)
    text = out.decode('latin-1'); print(text); return text
def send(data, one=None):
    one = one or tls(); one.sendall(data.encode('latin-1') if isinstance(data, str) else data)
    return hear(one)
def request(line='GET /v1/ok', host=HOST, more='', body=''):
    return f'{line} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n{body}'
def try_(act):
    try: act()
    except Exception as error: print('FAILED', type(error).__name__, error)
"""
OK = "assert 'REACHED' in send(request(more='Connection: close\\r\\n'))\n"


class RequestBypass(NamedTuple):
    """``code`` must have nothing but ``GET /v1/ok`` arrive; ``oks`` of those may."""

    name: str
    code: str
    oks: int = 0


def line(name: str, text: str) -> RequestBypass:
    return RequestBypass(name, f"send(request({text!r}))")


def head(name: str, more: str, oks: int = 0) -> RequestBypass:
    return RequestBypass(name, f"send(request(more={more!r}))", oks)


def raw(name: str, data: str, oks: int = 0) -> RequestBypass:
    return RequestBypass(name, f"send({data!r})", oks)


SMUGGLED = "GET /v2/smuggled HTTP/1.1\r\nHost: api.example.com\r\n\r\n"
START = "GET /v1/ok HTTP/1.1\r\nHost: api.example.com\r\n"
PATHS = [
    line(f"path {path}", f"GET {path}")
    for path in (
        "/v2/x", "/", "/v1", "/v1/", "/v1/ok/", "/v1/ok/x", "/V1/OK", "/v1/okx", "/v1/../v2/x",
        "/v1/ok/../../v2/x", "/v1/ok/%2e%2e/%2e%2e/v2/x", "/v1/%2e%2e/v2/x", "/v1/..%2fv2/x",
        "/v1%2fok", "/v1/ok%2f..%2f..%2fv2", "/v1/..;/v2/x", "/v1/ok/..%3b/x", "//v1/ok",
        "/v1//ok", "/./v1/ok", "/v1/./ok", "/v1/ok%00", "/v1/ok%00/../../v2", "/v1/%252e%252e/v2",
        "/v1\\..\\v2", "/v1/%5c..%5cv2", "/v1/ok#/v2", "/v1/%c0%ae%c0%ae/v2", "/v1/%ef%bc%8f/v2",
        "/v1/ok%zz", "/v2/x?/v1/ok", "/%76%32/x", "https://api.example.com/v2/x",
        "http://other.example.org/v1/ok", "https://other.example.org/v1/ok", "*", "v1/ok",
        "api.example.com:443", "/v2/x%20HTTP/1.1", "/v1/ok;/../../v2",
    )
]  # fmt: skip
METHODS = [
    line(f"method {method}", f"{method} /v1/ok")
    for method in (
        "POST", "DELETE", "get", "TRACE", "OPTIONS", "CONNECT", "GET\tPOST", "PRI", "PATCH", "Get",
    )
] + [
    head("method by header", "X-HTTP-Method-Override: DELETE\r\n"),
    head("method by header, with underscores", "X_HTTP_Method_Override: DELETE\r\n"),
    head("path by header", "X-Original-URL: /v2/x\r\n"),
    head("path by another header", "X-Rewrite-URL: /v2/x\r\n"),
]  # fmt: skip
HOSTS = [
    RequestBypass("another Host", "send(request(host='other.example.org'))"),
    RequestBypass("another Host with a port", "send(request(host='other.example.org:443'))"),
    RequestBypass("the Host on another port", "send(request(host='api.example.com:8443'))"),
    RequestBypass("a Host with a user", "send(request(host='api.example.com@other.example.org'))"),
    head("two Hosts", "Host: other.example.org\r\n"),
    raw("no Host", "GET /v1/ok HTTP/1.1\r\n\r\n"),
    raw("no Host in HTTP/1.0", "GET /v1/ok HTTP/1.0\r\n\r\n"),
    raw("Host with a space", "GET /v1/ok HTTP/1.1\r\nHost : other.example.org\r\n\r\n"),
    raw("HTTP/0.9", "GET /v2/x\r\n\r\n"),
    raw("absolute form, right Host",
        "GET https://other.example.org/v1/ok HTTP/1.1\r\nHost: api.example.com\r\n\r\n"),
]  # fmt: skip
FRAMES = [
    raw("two lengths",
        f"{START}Content-Length: 0\r\nContent-Length: {len(SMUGGLED)}\r\n\r\n{SMUGGLED}"),
    raw("two lengths in one", f"{START}Content-Length: 0, {len(SMUGGLED)}\r\n\r\n{SMUGGLED}"),
    raw("length and chunks",
        f"{START}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{SMUGGLED}"),
    raw("chunks and length",
        f"{START}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n{SMUGGLED}"),
    raw("chunked, spelled oddly",
        f"{START}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{SMUGGLED}"),
    raw("chunked twice",
        f"{START}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"
        f"{SMUGGLED}"),
    raw("chunked behind a control character",
        f"{START}Transfer-Encoding:\x0bchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n{SMUGGLED}"),
    raw("a negative length", f"{START}Content-Length: -1\r\n\r\n{SMUGGLED}"),
    raw("a length with a sign", f"{START}Content-Length: +0\r\n\r\n{SMUGGLED}"),
    raw("a request behind a request", f"{START}\r\n{SMUGGLED}", 1),
    raw("a request behind a body", f"{START}Content-Length: 3\r\n\r\nabc{SMUGGLED}", 1),
    raw("a request behind chunks",
        f"{START}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n{SMUGGLED}", 1),
    raw("a request in a trailer",
        f"{START}Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n{SMUGGLED}", 1),
    raw("a size with an extension",
        f"{START}Transfer-Encoding: chunked\r\n\r\n0;x=\n\r\n\r\n{SMUGGLED}", 1),
    raw("a folded header", f"{START}X: a\r\n GET /v2/x HTTP/1.1\r\n\r\n", 1),
    raw("lines that end in LF", f"{START.replace(chr(13), '')}X: a\n\n{SMUGGLED}", 1),
    raw("CR in a header", f"{START}X: a\rGET /v2/x HTTP/1.1\r\n\r\n"),
    raw("LF in a header", f"{START}X: a\n\nGET /v2/x HTTP/1.1\r\nHost: api.example.com\r\n\r\n", 1),
    raw("NUL in a header", f"{START}X: a\0b\r\n\r\n"),
    raw("a line break in the target", "GET /v1/ok\r\nX: /v2 HTTP/1.1\r\nHost: a\r\n\r\n"),
    raw("a target with a tab", "GET /v1/ok\t/v2 HTTP/1.1\r\nHost: api.example.com\r\n\r\n"),
    RequestBypass("a head without end", f"send({START!r} + 'X: ' + 'a' * 200_000)"),
]  # fmt: skip
CONNECTIONS = [
    RequestBypass("a second request on a kept connection",
                  "one = tls()\none.sendall(request().encode())\ntime.sleep(0.7)\n"
                  "send(request('GET /v2/x'), one)", 1),
    RequestBypass("another Host on a kept connection",
                  "one = tls()\none.sendall(request().encode())\ntime.sleep(0.7)\n"
                  "send(request(host='other.example.org'), one)", 1),
    head("a websocket", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: a\r\n"
         "Sec-WebSocket-Version: 13\r\n"),
    head("an upgrade to HTTP/2", "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n"
         "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n"),
    RequestBypass("HTTP/2 with prior knowledge",
                  "send(b'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n' + bytes(9), tls(alpn=['h2']))"),
    RequestBypass("another server name", "send(request('GET /v2/x'), tls('other.example.org'))"),
    RequestBypass("no server name", "send(request('GET /v2/x'), tls(None))"),
    RequestBypass("a subdomain as server name", "send(request('GET /v2/x'), tls('a.' + HOST))"),
    RequestBypass("plaintext on 443",
                  "send(request('GET /v2/x'), socket.create_connection((HOST, 443), 8))"),
    RequestBypass("noise on 443",
                  "send(os.urandom(300), socket.create_connection((HOST, 443), 8))"),
    RequestBypass("port 80", "send(request('GET /v2/x'), socket.create_connection((HOST, 80), 8))"),
    RequestBypass("another TLS port",
                  "send(request('GET /v2/x'), socket.create_connection((HOST, 8443), 8))"),
    RequestBypass("the server's own address",
                  "send(request('GET /v2/x'), tls(at='93.184.216.34'))"),
    RequestBypass("a name of the guest's own in /etc/hosts",
                  "try: open('/etc/hosts', 'a').write('93.184.216.34 api.example.com\\n')\n"
                  "except OSError: pass\nsend(request('GET /v2/x'))"),
    RequestBypass("renegotiation",
                  "one = tls(maximum_version=ssl.TLSVersion.TLSv1_2)\n"
                  "import subprocess\n"
                  "words = ['openssl', 's_client', '-tls1_2', '-connect', HOST + ':443']\n"
                  "p = subprocess.Popen([*words, '-servername', HOST], stdin=subprocess.PIPE)\n"
                  "p.stdin.write(b'GET /v2/x HTTP/1.1\\r\\n'); p.stdin.flush(); time.sleep(0.5)\n"
                  "p.stdin.write(b'R\\n'); p.stdin.flush(); time.sleep(0.5)\n"
                  "p.stdin.write(b'Host: api.example.com\\r\\n\\r\\n'); p.stdin.close()\n"
                  "p.wait(8)"),
    RequestBypass("TLS 1.1",
                  "send(request('GET /v2/x'), tls(minimum_version=ssl.TLSVersion.TLSv1,"
                  " maximum_version=ssl.TLSVersion.TLSv1_1))"),
    RequestBypass("half a request, and then the end",
                  "one = tls()\none.sendall(b'GET /v2/x HTTP/1.1\\r\\n')\none.unwrap()\nhear(one)"),
    RequestBypass("half a request, and then a reset",
                  "one = tls()\none.sendall(b'GET /v2/x HTTP/1.1\\r\\n')\n"
                  "one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))\n"
                  "one.close()"),
    RequestBypass("bytes after the last answer",
                  "one = tls()\none.sendall(request(more='Connection: close\\r\\n').encode())\n"
                  "time.sleep(0.7)\nsend(request('GET /v2/x'), one)", 1),
    RequestBypass("an upstream proxy by header",
                  "send(request(more='Proxy-Authorization: a\\r\\nX-Forwarded-Host: b\\r\\n'))", 1),
]  # fmt: skip
BYPASSES = [*PATHS, *METHODS, *HOSTS, *FRAMES, *CONNECTIONS]


def attempt(internet: Internet, code: str, rule: str = RULE, more: str = "", **env: str) -> Done:
    policy = internet.directory / "around.toml"
    policy.write_text(f'[network]\n{more}[network.tls]\n"{API}" = {rule}\n')
    given = {"API_KEY": SECRET, "SSL_CERT_FILE": str(internet.directory / "ca.pem")} | env
    options = ("--json", "--time", "50s", "--policy", policy)
    words = ("--", PYTHON, "-I", "-c", PRELUDE + code)
    return internet.run(*COMMAND, "exec", *options, *words, env=given, timeout_s=90)


@pytest.mark.parametrize("number", range(0, len(BYPASSES), 6))
def test_no_way_around_the_rules(internet: Internet, number: int) -> None:
    """Six at a time: each in a process of its own, between two allowed requests."""
    some = BYPASSES[number : number + 6]
    code = OK
    for one in some:
        code += (
            f"print('TRY', {one.name!r}, flush=True)\n"
            "if os.fork() == 0:\n"
            f"    try_(lambda: exec({one.code!r}, globals()))\n"
            "    sys.stdout.flush(); os._exit(0)\n"
            "os.wait()\n"
        )
    done = attempt(internet, code + OK)
    assert done.document["exit_code"] == 0, done.document["stderr"]
    web = [one for one in done.seen if one[0] == "web"]
    names = [one.name for one in some]
    wanted = [API, "/v1/ok", "GET"]
    assert [one for one in web if [one[3], one[4], one[5]] != wanted] == [], (names, done.stdout)
    assert all(one[2] == 443 for one in web), names
    assert len(web) == 2 + sum(one.oks for one in some), (names, done.document["stdout"])
    told = [one for one in done.seen if one[0] == "secret"]
    assert told == [["secret", [f"Bearer {SECRET}"], "/v1/ok"]] * len(web)
    assert SECRET not in done.document["stdout"].replace(SECRET[::-1], "")


def test_below_a_path_is_below_it_for_every_server(internet: Internet) -> None:
    """With ``/v1/**``, what servers read as something above it is refused."""
    targets = (
        "/v1/../v2", "/v1/a/../../v2", "/v1/%2e%2e/v2", "/v1/.%2e/v2", "/v1/..%2fv2", "/v1/..;/v2",
        "/v1/..;a=b/v2", "/v1/..%3b/v2", "/v1/a%2f..%2f..%2fv2", "/v1/%5c..%5cv2", "/v1/..\\v2",
        "/v1/%252e%252e/v2", "/v1/a%00/../v2", "/v1//../v2", "/v1/./../v2", "/v1/..", "/v1/.",
        "/v1/%c0%ae%c0%ae/v2", "/v1/%ef%bc%8f../v2", "/v1/%e2%80%a5/v2", "/v1/a/..?x", "/v1/%2e",
    )  # fmt: skip
    code = "".join(f"try_(lambda: send(request({'GET ' + one!r})))\n" for one in targets)
    rule = '{paths = ["/v1/**", "/v3/*"]}'
    done = attempt(internet, code, rule=rule)
    assert [one for one in done.seen if one[0] == "web"] == [], done.document["stdout"]
    assert done.document["stdout"].count("HTTP/1.1 403") == len(targets)
    fine = ("/v1/a", "/v1/a/b/c", "/v1/a%20b", "/v1/a.b/..c/...", "/v1/%C3%A9", "/v3/x?a=/../b")
    more = "Connection: close\\r\\n"
    code = "".join(f"send(request({'GET ' + one!r}, more='{more}'))\n" for one in fine)
    done = attempt(internet, code + "send(request('GET /v3/x/y'))", rule=rule)
    assert [one[4] for one in done.seen if one[0] == "web"] == list(fine)


def test_a_host_with_a_wrong_certificate_gets_nothing(internet: Internet) -> None:
    good = attempt(internet, OK)
    assert good.document["exit_code"] == 0
    for env in ({"SSL_CERT_FILE": "/dev/null"}, {"SSL_CERT_FILE": ""}):
        done = attempt(internet, "print(send(request()))", **env)
        assert "502" in done.document["stdout"]
        assert "certificate is not valid" in done.document["stdout"]
        assert [one for one in done.seen if one[0] in ("web", "secret")] == []


def test_a_name_that_leads_to_a_private_address_gets_nothing(internet: Internet) -> None:
    for host in ("intern.example.com", "loop.example.com", "chain.example.com"):
        policy = internet.directory / "around.toml"
        policy.write_text(f'[network.tls]\n"{host}" = {RULE}\n')
        env = {"API_KEY": SECRET, "SSL_CERT_FILE": str(internet.directory / "ca.pem")}
        words = ("exec", "--json", "--policy", policy, "--", "curl", "-s", f"https://{host}/v1/ok")
        done = internet.run(*COMMAND, *words, env=env)
        assert done.visits == [], host
        assert any("it is a" in one["reason"] for one in done.document["refusals"])


def test_a_rule_that_allows_the_name_widely_opens_no_other_port(internet: Internet) -> None:
    more = 'allow = ["**.example.com:80,443,8080,9999", "api.example.com"]\n'
    code = "".join(
        f"try_(lambda: send(request('GET /v2/x'), socket.create_connection((HOST, {port}), 4)))\n"
        for port in (80, 8080, 9999)
    )
    done = attempt(internet, code + OK, more=more)
    assert [one[4] for one in done.visits if one[0] == "web"] == ["/v1/ok"]
    assert [one for one in done.visits if one[0] == "text"] == []
    denied = attempt(internet, "try_(lambda: send(request()))", more='deny = ["api.example.com"]\n')
    assert denied.visits == []


def test_the_authority_signs_for_its_hosts_alone_and_its_key_stays_outside(
    internet: Internet,
) -> None:
    line = (
        "openssl x509 -in /etc/wardian/trust/ca.pem -noout -text | grep -A3 'Name Constraints';"
        " find / -xdev -newer /etc/wardian/trust/ca.pem -name '*.key' 2>/dev/null;"
        " echo q | openssl s_client -connect api.example.com:443 -servername api.example.com"
        " 2>/dev/null | openssl x509 -noout -ext subjectAltName"
    )
    policy = internet.directory / "around.toml"
    policy.write_text(f'[network.tls]\n"{API}" = {RULE}\n')
    env = {"API_KEY": SECRET, "SSL_CERT_FILE": str(internet.directory / "ca.pem")}
    words = ("exec", "--json", "--policy", policy, "--", "sh", "-c", line)
    text = internet.run(*COMMAND, *words, env=env).document["stdout"]
    assert "X509v3 Name Constraints: critical" in text
    assert text.count("DNS:") == 2
    assert text.count(f"DNS:{API}") == 2


def test_only_what_is_looked_at_is_spoken(internet: Internet) -> None:
    done = attempt(internet, "print(tls(alpn=['h2', 'http/1.1']).selected_alpn_protocol())")
    assert done.document["stdout"] == "http/1.1\n", done.document["stderr"]


def test_other_hosts_are_not_looked_at(internet: Internet) -> None:
    more = 'allow = ["six.example.com"]\n'
    code = (
        "context = ssl._create_unverified_context()\n"
        "one = context.wrap_socket(socket.create_connection(('six.example.com', 443), 8),"
        " server_hostname='six.example.com')\n"
        "print('SMALL' if b'small' in one.getpeercert(True) else 'OTHER')\n"
        "send(request('DELETE /v9/x', host='six.example.com'), one)\n"
    )
    done = attempt(internet, code, more=more)
    assert "SMALL" in done.document["stdout"]  # the host's own certificate
    assert [one[4:6] for one in done.seen if one[0] == "web"] == [["/v9/x", "DELETE"]]


def test_many_connections_are_bounded(internet: Internet) -> None:
    code = (
        "ones = []\n"
        "for i in range(80):\n"
        "    try: ones.append(tls())\n"
        "    except OSError: pass\n"
        "print(len(ones))\n"
        "for one in ones: one.close()\n"
        "time.sleep(1)\n"
    )
    done = attempt(internet, code + OK)
    assert done.document["exit_code"] == 0, done.document["stderr"]
    assert done.document["stdout"].splitlines()[0] == "64"
    said = [one["reason"] for one in done.document["refusals"] if one["kind"] == "network"]
    assert said == ["more than 64 connections whose requests are looked at"]
