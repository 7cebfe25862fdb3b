"""What no rule allows is asked about: answers hold for what was asked and no longer, a guest can
neither answer nor flood, and what was allowed can be withdrawn."""

from __future__ import annotations

import json
from typing import Any

from tests.command import COMMAND
from tests.network.conftest import PYTHON, Internet
from tests.network.internet import OTHER, PRIVATE, REACHED

API, THIRD = "other.example.org", "third.example.org"

PRELUDE = r"""
import asyncio, json, sys, threading, time
from wardian import Answer, Policy, Sandbox
from wardian.sandbox.network import asking, run_rules
ALLOW, RUN, DENY = Answer.ALLOW, Answer.ALLOW_RUN, Answer.DENY
asked = []
def answering(answers, otherwise=DENY):
    def on_connect(request):
        asked.append(str(request))
        return answers.get(str(request), otherwise)
    return on_connect
def policy(*allow, deny=()):
    return Policy.default().but(network="names", allow_hosts=allow, deny_hosts=deny)
def curl(*hosts):
    lines = (f"curl -s -m 9 http://{host}/x || echo no {host};" for host in hosts)
    return ["sh", "-c", "".join(lines)]
def report(result, **more):
    print(json.dumps(result.document(output=True) | more | {"questions": asked}))
"""


def python(internet: Internet, code: str, **more: Any) -> dict[str, Any]:
    done = internet.run(COMMAND[0], "-P", "-c", PRELUDE + code, **more)
    assert done.code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found | {"visits": done.visits, "seen": done.seen}


def reasons(document: dict[str, Any]) -> dict[str, str]:
    return {r["target"]: r["reason"] for r in document["refusals"] if r["kind"] == "network"}


# Answers


def test_each_kind_of_question_is_answered_for_what_it_is_about(internet: Internet) -> None:
    found = python(
        internet,
        "answers = {'other.example.org': ALLOW, 'api.example.com:22': ALLOW,\n"
        f"           'intern.example.com': RUN, 'intern.example.com ({PRIVATE}):80': ALLOW,\n"
        f"           '{OTHER}:80': RUN}}\n"
        "rules = policy('api.example.com')\n"
        "with Sandbox.create(rules, on_connect=answering(answers)) as sandbox:\n"
        "    words = curl('other.example.org', 'third.example.org', 'intern.example.com',\n"
        f"                 'api.example.com', '{OTHER}', '{PRIVATE}', 'third.example.org')\n"
        "    words[2] += 'curl -s -m 5 --http0.9 http://api.example.com:22/x'\n"
        "    report(sandbox.run(words), rules=sandbox.network.rules)",
    )
    lines = found["stdout"].splitlines()
    assert lines[:7] == [
        f"{REACHED} {OTHER} other.example.org", "no third.example.org",
        f"{REACHED} {PRIVATE} intern.example.com", f"{REACHED} 93.184.216.34 api.example.com",
        f"{REACHED} {OTHER} {OTHER}", f"no {PRIVATE}", "no third.example.org",
    ]  # fmt: skip
    assert lines[7] == f"SSH-2.0-{REACHED}"
    assert found["questions"] == [
        API,
        THIRD,
        "intern.example.com",
        f"intern.example.com ({PRIVATE}):80",
        f"{OTHER}:80",
        f"{PRIVATE}:80",
        "api.example.com:22",
    ]  # fmt: skip - a no is remembered
    assert found["rules"] == ["api.example.com", "intern.example.com", f"{OTHER}:80"]
    assert reasons(found) == {
        THIRD: "no rule allows this name; the answer was no",
        f"{PRIVATE}:80": "no rule allows this address; the answer was no",
    }
    by_rule = {one["rule"]: one for one in found["asked"]}
    assert by_rule[API]["answer"] == "allow"
    assert by_rule[API]["process"]["command"].startswith("curl -s")
    assert by_rule[f"{PRIVATE}:80"]["answer"] == "deny"
    assert not any(one[0] == "dns" and one[2] == THIRD for one in found["seen"])


def test_a_name_that_was_allowed_leads_to_no_private_address_by_that(internet: Internet) -> None:
    names = ("intern", "loop", "metadata", "carrier", "chain")
    found = python(
        internet,
        f"hosts = [n + '.example.com' for n in {names!r}]\n"
        "with Sandbox.create(policy(), on_connect=answering({h: RUN for h in hosts})) as sandbox:\n"
        "    report(sandbox.run(curl(*hosts)))",
    )
    assert found["visits"] == []
    assert len(reasons(found)) == len(names)
    for target, reason in reasons(found).items():
        assert reason.startswith(
            ("it is a private", "it is a loopback", "it is a link", "it is a c")
        ), target


def test_what_a_rule_denies_is_not_asked_about(internet: Internet) -> None:
    found = python(
        internet,
        "rules = policy(deny=('other.example.org', '*.example.com', '10.0.0.0/8'))\n"
        "with Sandbox.create(rules, on_connect=answering({}, RUN)) as sandbox:\n"
        "    report(sandbox.run(curl('other.example.org', 'intern.example.com', '10.9.8.7',\n"
        "                            'third.example.org')))",
    )
    assert found["questions"] == [THIRD]
    assert [one[3] for one in found["visits"]] == [THIRD]


def test_allowing_once_ends(internet: Internet) -> None:
    found = python(
        internet,
        "run_rules.ONCE_S = 1.0\n"
        "with Sandbox.create(policy(), on_connect=answering({}, ALLOW), fresh=True) as sandbox:\n"
        "    words = curl('other.example.org', 'other.example.org')\n"
        "    words[2] += 'sleep 2.5;' + curl('other.example.org')[2]\n"
        "    sandbox.run(words)\n"
        "    time.sleep(0.5)\n"
        "    report(sandbox.run(curl('other.example.org')), rules=sandbox.network.rules)",
    )
    assert found["questions"] == [API] * 3  # within the second, after it, and in another run
    assert found["rules"] == []
    assert len(found["visits"]) == 4


def test_a_run_s_answer_holds_for_the_sandbox_and_no_other(internet: Internet) -> None:
    found = python(
        internet,
        "with Sandbox.create(policy(), on_connect=answering({}, RUN)) as sandbox:\n"
        "    sandbox.run(curl('other.example.org'))\n"
        "    sandbox.run(curl('other.example.org'))\n"
        "with Sandbox.create(policy(), on_connect=answering({})) as sandbox:\n"
        "    report(sandbox.run(curl('other.example.org')))",
    )
    assert found["questions"] == [API] * 2
    assert len(found["visits"]) == 2
    assert found["stdout"] == "no other.example.org\n"


def test_what_is_no_answer_is_a_no_and_is_reported(internet: Internet) -> None:
    for body, reason in {
        "raise ValueError('out of order')": "on_connect raised ValueError: out of order",
        "return True": "on_connect raised UsageError: it returned True, which is no wardian.Answer",
        "return 'allow'": "on_connect raised UsageError: it returned 'allow', which is no wardian",
        "sys.exit(3)": "on_connect raised SystemExit: 3",
    }.items():
        found = python(
            internet,
            f"def on_connect(request):\n    asked.append(str(request))\n    {body}\n"
            "with Sandbox.create(policy(), on_connect=on_connect) as sandbox:\n"
            "    report(sandbox.run(curl('other.example.org')))",
        )
        assert found["visits"] == [], body
        assert reasons(found)[API].startswith(f"no rule allows this name; {reason}"), body
        assert found["asked"][0]["error"].startswith(reason), body


def test_nobody_is_waited_for_without_end(internet: Internet) -> None:
    found = python(
        internet,
        "asking.ANSWER_S = 1.0\n"
        "def on_connect(request):\n    time.sleep(3)\n    return RUN\n"
        "with Sandbox.create(policy(), on_connect=on_connect) as sandbox:\n"
        "    began = time.monotonic()\n"
        "    sandbox.run(curl('other.example.org'))\n"
        "    waited = time.monotonic() - began\n"
        "    time.sleep(3)\n"
        "    report(sandbox.run(['true']), waited=waited, rules=sandbox.network.rules)",
    )
    assert 1.0 <= found["waited"] < 3
    assert found["rules"] == []  # an answer that comes too late is none
    assert found["visits"] == []


# Where it is asked


def test_a_coroutine_is_called_on_the_loop_that_waits_for_the_run(internet: Internet) -> None:
    code = (
        "async def on_connect(request):\n"
        "    asked.append(asyncio.get_running_loop() is main_loop)\n"
        "    await asyncio.sleep(0.3)\n    return RUN\n"
        "async def main():\n"
        "    global main_loop\n    main_loop = asyncio.get_running_loop()\n"
        "    ticks = []\n"
        "    async def tick():\n"
        "        while True: ticks.append(1); await asyncio.sleep(0.01)\n"
        "    ticking = asyncio.create_task(tick())\n"
        "    with Sandbox.create(policy(), on_connect=on_connect) as sandbox:\n"
        "        result = await sandbox.run_async(curl('other.example.org'))\n"
        "    ticking.cancel()\n"
        "    report(result, ticks=len(ticks))\n"
        "asyncio.run(main())"
    )
    found = python(internet, code)
    assert found["questions"] == [True]
    assert found["stdout"].startswith(REACHED)
    assert found["ticks"] > 10
    plain = code.replace("async def on_connect", "def on_connect").replace(
        "asked.append(asyncio.get_running_loop() is main_loop)\n    await asyncio.sleep(0.3)",
        "asked.append(threading.current_thread().name)\n    time.sleep(0.3)",
    )
    found = python(internet, plain)  # a function that blocks does not hold the loop up either
    assert found["questions"] == ["wardian-ask"]
    assert found["ticks"] > 10


def test_a_coroutine_answers_a_run_that_is_waited_for_without_a_loop(internet: Internet) -> None:
    found = python(
        internet,
        "async def on_connect(request):\n    await asyncio.sleep(0.1)\n    return RUN\n"
        "with Sandbox.create(policy(), on_connect=on_connect) as sandbox:\n"
        "    report(sandbox.run(curl('other.example.org')))",
    )
    assert found["stdout"].startswith(REACHED)


def test_an_open_question_holds_nothing_else_up(internet: Internet) -> None:
    found = python(
        internet,
        "def on_connect(request):\n    asked.append(time.monotonic())\n    time.sleep(1.5)\n"
        "    return RUN\n"
        "pieces = []\n"
        "with Sandbox.create(policy('api.example.com'), on_connect=on_connect) as sandbox:\n"
        "    words = ['sh', '-c', curl('other.example.org')[2].replace(';', ' &') +"
        " 'sleep 0.3; ' + curl('api.example.com')[2] + 'echo out; wait']\n"
        "    take = lambda data: pieces.append((time.monotonic(), data))\n"
        "    result = sandbox.run(words, on_stdout=take, keep=True)\n"
        "    report(result, first=pieces[0][0])",
    )
    lines = found["stdout"].splitlines()
    assert [line.split()[-1] for line in lines] == ["api.example.com", "out", API]
    assert found["first"] - found["questions"][0] < 1.4


def test_a_policy_without_names_asks_nobody(internet: Internet) -> None:
    for mode in ("none", "host"):
        done = internet.run(
            COMMAND[0], "-P", "-c",
            PRELUDE + f"rules = policy().but(network={mode!r})\n"
            "Sandbox.create(rules, on_connect=answering({}))",
        )  # fmt: skip
        assert "UsageError: on_connect needs a network by name" in done.stderr


# A guest that asks a lot


def test_the_same_is_not_asked_twice_at_once(internet: Internet) -> None:
    found = python(
        internet,
        "def on_connect(request):\n    asked.append(str(request))\n"
        "    time.sleep(1)\n    return RUN\n"
        "with Sandbox.create(policy(), on_connect=on_connect) as sandbox:\n"
        "    line = ''.join(curl('other.example.org')[2].replace(';', ' &') for _ in range(8))\n"
        "    report(sandbox.run(['sh', '-c', line + 'wait']))",
    )
    assert found["questions"] == [API]
    assert found["stdout"].count(REACHED) == 8
    assert len(found["asked"]) == 1


FLOOD = (
    "import socket\n"
    "def question(i):\n"
    "    labels = b''.join(bytes([len(x)]) + x for x in (b'n%d' % i, b'example', b'net'))\n"
    "    return b'\\x12\\x34\\x01\\0\\0\\1\\0\\0\\0\\0\\0\\0' + labels + b'\\0\\0\\1\\0\\1'\n"
    "one = socket.socket(type=socket.SOCK_DGRAM)\n"
    "one.settimeout(3)\n"
    "for i in range(400):\n"
    "    one.sendto(question(i), ('127.0.0.1', 53))\n"
    "    if i % 4 == 3 and not WAIT: continue\n"
    "    try: one.recv(512)\n"
    "    except OSError: pass\n"
)


def test_a_flood_of_names_is_not_a_flood_of_questions(internet: Internet) -> None:
    quick = FLOOD.replace("settimeout(3)", "settimeout(0.01)")
    flood = {wait: [PYTHON, "-c", f"WAIT = {wait}\n{FLOOD if wait else quick}"] for wait in (0, 1)}
    found = python(
        internet,
        "over = threading.Event()\n"
        "def on_connect(request):\n    asked.append(str(request))\n"
        "    over.wait(20)\n    return DENY\n"
        "with Sandbox.create(policy(), on_connect=on_connect) as sandbox:\n"
        f"    result = sandbox.run({flood[0]!r})\n"
        "    over.set()\n    report(result)",
        timeout_s=90,
    )
    assert len(found["questions"]) == 8
    said = [r for r in reasons(found).values() if r.endswith("not asked: 8 questions are open")]
    assert len(said) > 300
    found = python(
        internet,
        "with Sandbox.create(policy(), on_connect=answering({})) as sandbox:\n"
        f"    report(sandbox.run({flood[1]!r}))",
        timeout_s=90,
    )
    assert len(found["questions"]) == 60
    said = [r for r in reasons(found).values() if "more than 60 questions in a minute" in r]
    assert len(said) > 300


def test_a_run_that_is_killed_while_someone_is_asked_ends_at_once(internet: Internet) -> None:
    found = python(
        internet,
        "over = threading.Event()\n"
        "def on_connect(request):\n    asked.append(str(request))\n"
        "    over.wait(20)\n    return RUN\n"
        "with Sandbox.create(policy(), on_connect=on_connect, fresh=True) as sandbox:\n"
        "    process = sandbox.start(curl('other.example.org'))\n"
        "    while not asked: time.sleep(0.01)\n"
        "    began = time.monotonic()\n"
        "    process.kill()\n    result = process.wait(10)\n    took = time.monotonic() - began\n"
        "    over.set()\n    time.sleep(0.3)\n"
        "    report(result, took=took, threads=[t.name for t in threading.enumerate()])",
    )
    assert found["reason"] == "killed"
    assert found["took"] < 3
    assert found["threads"] == ["MainThread"]
    assert found["visits"] == []


# Withdrawing

STREAM = (
    "import socket, sys, time\n"
    "streams = [socket.create_connection((host, 9999)) for host in sys.argv[1:]]\n"
    "for one in streams: one.settimeout(10); one.recv(100)\n"
    "print('open', flush=True)\n"
    "while True:\n"
    "    for i, one in enumerate(list(streams)):\n"
    "        try:\n"
    "            one.sendall(b'x'); alive = one.recv(1)\n"
    "        except OSError as error: alive = b''\n"
    "        if not alive:\n"
    "            print('ended', sys.argv[1 + i], flush=True); streams.remove(one)\n"
    "            try:\n"
    "                socket.create_connection((sys.argv[1 + i], 9999), 5).recv(1); print('again')\n"
    "            except OSError as error: print('refused', flush=True)\n"
    "            if len(streams) == int(LEFT): sys.exit()\n"
    "    time.sleep(0.02)\n"
)


def withdrawing(internet: Internet, rules: str, hosts: list[str], act: str, left: int) -> Any:
    guest = [PYTHON, "-u", "-c", f"LEFT = {left}\n{STREAM}", *hosts]
    return python(
        internet,
        "ready = threading.Event()\n"
        "def heard(data):\n    if b'open' in data: ready.set()\n"
        f"with Sandbox.create({rules}) as sandbox:\n"
        f"    process = sandbox.start({guest!r}, on_stdout=heard, keep=True)\n"
        "    assert ready.wait(10)\n"
        f"    {act}\n"
        "    report(process.wait(20), rules=sandbox.network.rules)",
    )


def test_withdrawing_a_rule_ends_its_connections_and_no_others(internet: Internet) -> None:
    found = withdrawing(
        internet,
        "policy('other.example.org:9999', 'api.example.com:9999')",
        ["other.example.org", "api.example.com"],
        "sandbox.network.withdraw('other.example.org:9999')",
        left=1,
    )
    assert found["stdout"].splitlines() == ["open", "ended other.example.org", "refused"]
    assert found["rules"] == ["api.example.com:9999"]
    ended = {c["name"]: (c["outcome"], c["reason"]) for c in found["connections"]}
    assert ended["api.example.com"] != ("refused", "the rule was withdrawn")
    assert ("refused", "the rule was withdrawn") in [
        (c["outcome"], c["reason"]) for c in found["connections"] if c["name"] == API
    ]


def test_withdrawing_what_another_rule_allows_too_ends_nothing(internet: Internet) -> None:
    found = withdrawing(
        internet,
        "policy('other.example.org:9999', '*.example.org:9999', 'api.example.com:9999')",
        ["other.example.org", "api.example.com"],
        "sandbox.network.withdraw('other.example.org:9999'); "
        "sandbox.network.withdraw('api.example.com:9999')",
        left=1,
    )
    assert found["stdout"].splitlines() == ["open", "ended api.example.com", "refused"]


def test_withdrawing_an_address_ends_what_a_name_has_there(internet: Internet) -> None:
    found = withdrawing(
        internet,
        f"policy('intern.example.com:9999', '{PRIVATE}:9999')",
        ["intern.example.com"],
        f"sandbox.network.withdraw('{PRIVATE}:9999')",
        left=0,
    )
    assert found["stdout"].splitlines() == ["open", "ended intern.example.com", "refused"]


def test_what_an_answer_allowed_can_be_withdrawn_and_is_asked_again(internet: Internet) -> None:
    found = python(
        internet,
        "answers = [RUN, DENY]\n"
        "def on_connect(request):\n    asked.append(str(request))\n    return answers.pop(0)\n"
        "with Sandbox.create(policy(), on_connect=on_connect) as sandbox:\n"
        "    sandbox.run(curl('other.example.org'))\n"
        "    before = sandbox.network.rules\n"
        "    sandbox.network.withdraw('other.example.org')\n"
        "    result = sandbox.run(curl('other.example.org'))\n"
        "    sandbox.network.allow('other.example.org')\n"
        "    last = sandbox.run(curl('other.example.org'))\n"
        "    try: sandbox.network.withdraw('third.example.org')\n"
        "    except Exception as error: problem = str(error)\n"
        "    report(result, before=before, last=last.text, problem=problem)",
    )
    assert found["before"] == [API]
    assert found["questions"] == [API, API]
    assert found["stdout"] == "no other.example.org\n"
    assert found["last"].startswith(REACHED)
    assert found["problem"] == "no rule 'third.example.org' is in force"


# On a terminal

QUESTION = "N no to all: "
OPTIONS = ("exec", "--net", "ask", "--net", "api.example.com")


def terminal(internet: Internet, steps: list[tuple[str, str]], *words: str) -> dict[str, Any]:
    program = __file__.replace("test_asking.py", "on_terminal.py")
    done = internet.run(
        COMMAND[0], program, json.dumps(steps), *COMMAND, *words, env={"TERM": "xterm"}
    )
    assert done.code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["same"], "the terminal is not as it was"
    return found | {"visits": done.visits}


def shell(*hosts: str) -> tuple[str, ...]:
    line = "".join(f"curl -s -m 20 http://{host}/x || echo no {host}; " for host in hosts)
    return ("--", "sh", "-c", line)


def test_the_person_at_the_terminal_is_asked(internet: Internet) -> None:
    steps = [(QUESTION, "y"), (QUESTION, "r"), (QUESTION, "n")]
    hosts = ("api.example.com", API, "six.example.com", "six.example.com", THIRD)
    found = terminal(internet, steps, *OPTIONS, *shell(*hosts))
    assert found["code"] == 0
    assert found["left"] == []
    assert [one[3] for one in found["visits"]] == list(hosts[:4])
    assert "wardian: look up other.example.org: no rule allows this name\r\n" in found["seen"]
    assert "wardian: by: curl -s -m 20 http://other.example.org/x\r\n" in found["seen"]
    assert "wardian: to allow it next time: --net six.example.com\r\n" in found["seen"]
    assert "no third.example.org" in found["seen"]


def test_no_to_all_is_the_last_question(internet: Internet) -> None:
    for key in ("N", "\x03\x03"):
        steps = [(QUESTION, key[0]), *([(QUESTION, "N")] if key != "N" else [])]
        found = terminal(internet, steps, *OPTIONS, *shell(API, THIRD, "six.example.com"))
        assert found["visits"] == []
        assert found["seen"].count(QUESTION) == (1 if key == "N" else 2)


def test_the_guest_can_not_answer_nor_print_over_the_question(internet: Internet) -> None:
    guest = (
        "import fcntl, os, subprocess, sys, termios, threading, time\n"
        "def noise():\n"
        "    for i in range(60):\n"
        "        sys.stdout.write('y\\r\\x1b[2K\\x1b[8mGUEST\\r\\n'); sys.stdout.flush()\n"
        "        for name in ('/dev/tty', '/dev/stdin', '/proc/self/fd/0'):\n"
        "            try:\n"
        "                with open(name, 'r+b', 0) as one:\n"
        "                    one.write(b'y'); fcntl.ioctl(one, termios.TIOCSTI, b'y')\n"
        "            except OSError: pass\n"
        "        time.sleep(0.05)\n"
        "threading.Thread(target=noise, daemon=True).start()\n"
        "words = ['curl', '-s', '-A', '\\x1b[2J\\u202e', 'http://other.example.org/x']\n"
        "print('CODE', subprocess.run(words).returncode)\n"
    )
    steps = [("GUEST", "yyy"), (QUESTION, "\x00"), ("", "\x00"), ("", "n")]
    found = terminal(internet, steps, *OPTIONS, "--", PYTHON, "-c", guest)
    assert found["visits"] == []
    assert "CODE 6" in found["seen"]
    question = found["seen"].split("\x1b[!p")[1].split("deny")[0]
    assert "GUEST" not in question
    assert "\x1b" not in question
    assert "\\x1b[2J" in question


def test_the_terminal_is_left_in_order_if_the_run_ends_meanwhile(internet: Internet) -> None:
    words = (*OPTIONS, "--time", "2s", *shell(API))
    found = terminal(internet, [], *words)
    assert found["code"] == 124
    assert QUESTION in found["seen"]
    assert found["visits"] == []


def test_asking_needs_a_terminal_and_one_run(internet: Internet) -> None:
    done = internet.run("setsid", "--wait", *COMMAND, *OPTIONS, "--", "true")
    assert (done.code, done.stderr.splitlines()[0]) == (
        125, "error: --net ask needs a terminal, and this process has none",
    )  # fmt: skip
    done = internet.run(*COMMAND, "policy", "show", "--net", "ask")
    assert done.code == 2
    assert "--net ask works with exec, run and trace only" in done.stderr
    for other in ("none", "host"):
        done = internet.run(*COMMAND, "exec", "--net", "ask", "--net", other, "--", "true")
        assert "cannot be combined" in done.stderr
    policy = internet.directory / "asks.toml"
    policy.write_text("[network]\nask = true\n")
    done = internet.run(*COMMAND, "exec", "--policy", policy, "--", "true")
    assert done.code == 125
    assert "unknown key 'ask' in [network]" in done.stderr
