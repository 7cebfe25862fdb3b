"""Processes that a command leaves running: ended with the run, and reported."""

from __future__ import annotations

import json

import pytest

from tests.command import Wardian

SERVER = (
    "import socket, sys, time; s = socket.create_server(('127.0.0.1', 8123)); "
    "print('listens', flush=True); time.sleep(60)"
)


def test_what_is_left_running_is_printed_with_where_it_listens(wardian: Wardian) -> None:
    done = wardian("exec", "--", "sh", "-c", f'python3 -c "{SERVER}" >/dev/null & sleep 0.6')
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("wardian: 1 process was still running and was ended: python3 -c ")
    assert done.stderr.endswith("(listening on 127.0.0.1:8123)\n")


def test_a_command_that_waits_for_its_own_leaves_nothing(wardian: Wardian) -> None:
    done = wardian("exec", "--", "sh", "-c", "sleep 0.1 & wait")
    assert (done.returncode, done.stderr) == (0, "")
    assert wardian("exec", "--", "sh", "-c", "true & wait; true | true").stderr == ""


def test_those_that_listen_come_first_and_many_are_cut(wardian: Wardian) -> None:
    many = "for i in 1 2 3 4 5; do sleep 6$i & done; "
    done = wardian("exec", "--", "sh", "-c", f'{many} python3 -c "{SERVER}" & sleep 0.6')
    assert "7 processes were still running" not in done.stderr
    first, *rest = done.stderr.partition("were ended: ")[2].split(", ")
    assert "python3" in first
    assert rest[-1] == "and 3 more\n"


@pytest.mark.parametrize("backend", ["wardian", "host"])
def test_the_document_has_them(wardian: Wardian, backend: str) -> None:
    command = ("sh", "-c", f'python3 -c "{SERVER}" >/dev/null & sleep 61 & sleep 0.8')
    done = wardian("exec", "--backend", backend, "--json", "--", *command)
    document = json.loads(done.stdout)
    server, sleep = sorted(document["left_running"], key=lambda one: one["command"] == "sleep 61")
    assert server["listening"] == ["127.0.0.1:8123"]
    assert (sleep["command"], sleep["listening"]) == ("sleep 61", [])
    assert document["left_running_more"] == 0


def test_a_run_that_is_ended_reports_only_that(wardian: Wardian) -> None:
    done = wardian("exec", "--json", "--time", "500ms", "--", "sh", "-c", "sleep 61 & sleep 60")
    document = json.loads(done.stdout)
    assert (document["reason"], document["left_running"]) == ("time limit", [])


def test_a_record_has_them(wardian: Wardian, tmp_path_factory: pytest.TempPathFactory) -> None:
    records = tmp_path_factory.mktemp("records")
    wardian("exec", "--record", str(records), "--", "sh", "-c", "sleep 61 &")
    (record,) = (one.name for one in records.iterdir() if not one.name.startswith("."))
    page = wardian("log", "show", record, "--dir", str(records))
    assert "left running sleep 61\n" in page.stdout, (page.stdout, page.stderr)


def test_quiet_is_quiet(wardian: Wardian) -> None:
    assert wardian("exec", "-q", "--", "sh", "-c", "sleep 61 &").stderr == ""
