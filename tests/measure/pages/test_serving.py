"""The served report: on loopback, for those who call it so, and up to date by itself."""

from __future__ import annotations

import http.client
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command import COMMAND, environment
from wardian.errors import UsageError
from wardian.measure.case import Case
from wardian.measure.outcome import Outcome
from wardian.measure.pages.serving import Drawn, Server
from wardian.measure.store.store import Store, Write

pytestmark = pytest.mark.long

NEW = Case("probe", "core__network__brand_new", "wardian", "network", "network_brand_new")


@pytest.fixture
def store(history: Path, tmp_path: Path) -> Iterator[Store]:
    """A copy of the history that may be written to."""
    shutil.copy(history, tmp_path / "store.sqlite")
    with Store.open(str(tmp_path / "store.sqlite")) as opened:
        yield opened


@pytest.fixture
def server(store: Store) -> Iterator[Server]:
    """Serving in a thread of its own."""
    with Store.open(store.path) as own:
        made = Server(Drawn(own, "last", None), 0)
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield made
        made.shutdown()
        made.close()
        thread.join()


def get(server: Server, path: str, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def add(store: Store, case: Case = NEW) -> None:
    store.record(store.campaign("last"), [Write(case, Outcome("supported", observed="allowed"))])


def test_pages_are_served_by_name(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert get(server, "/")[0] == 200
    assert "<h1>Timeline</h1>" in get(server, "/timeline.html?search=x")[1]
    assert get(server, "/../../etc/passwd")[0] == 404
    assert get(server, "/store.sqlite")[0] == 404


def test_another_name_for_this_address_gets_nothing(server: Server) -> None:
    status, text = get(server, "/", Host=f"evil.example:{server.server_port}")
    assert status == 421
    assert "wardian" not in text


def test_what_is_written_is_there_at_the_next_look(server: Server, store: Store) -> None:
    assert "network_brand_new" not in get(server, "/capabilities.html")[1]
    add(store)
    assert "network_brand_new" in get(server, "/capabilities.html")[1]


def test_a_browser_follows_by_itself(server: Server, store: Store, browser: Any) -> None:
    page = browser.new_page()
    page.goto(f"{server.address}capabilities.html")
    page.locator("#search").fill("brand")
    assert page.locator("tr[data-words]:visible").count() == 0
    add(store)
    page.locator("th a", has_text="network_brand_new").wait_for(state="visible", timeout=30_000)
    assert page.locator("#search").input_value() == "brand", "what was typed stays"
    page.close()


def test_a_port_that_is_taken_is_an_error(server: Server, store: Store) -> None:
    with pytest.raises(UsageError, match="can't be used"):
        Server(Drawn(store, "last", None), server.server_port)


def test_the_command_serves_until_interrupted(history: Path) -> None:
    command = [*COMMAND, "report", "--store", str(history), "--serve"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment()) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        port = int(said.split("127.0.0.1:")[1].split("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/skills.html")
        answer = connection.getresponse()
        assert answer.status == 200
        answer.read()
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        assert process.stderr.read() == ""
