"""Whom a connection is for: real hellos of OpenSSL's, in pieces and changed; requests, and what
only looks like one."""

from __future__ import annotations

import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardian.sandbox.network.first_words import NotNamedError, host_header, server_name


def hello(name: str | None, *, version: ssl.TLSVersion | None = None) -> bytes:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if version is not None:
        context.maximum_version = version
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def in_records(data: bytes, size: int) -> bytes:
    """The same hello, spread over records."""
    body = data[5:]
    pieces = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(data[:3] + len(piece).to_bytes(2, "big") + piece for piece in pieces)


@pytest.mark.parametrize("version", [None, ssl.TLSVersion.TLSv1_2])
def test_the_name_is_found_once_all_of_the_hello_is_there(version: ssl.TLSVersion | None) -> None:
    data = hello("api.example.com", version=version)
    assert server_name(data) == "api.example.com"
    assert server_name(data + b"more") == "api.example.com"
    assert {server_name(data[:n]) for n in range(len(data))} == {None}


@pytest.mark.parametrize("size", [1, 3, 4, 5, 100])
def test_a_hello_in_many_records_is_the_same(size: int) -> None:
    data = in_records(hello("api.example.com"), size)
    assert server_name(data) == "api.example.com"
    assert {server_name(data[:n]) for n in range(0, len(data), 7)} <= {None}


@pytest.mark.parametrize(
    "data",
    [
        hello(None),
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x00\x00",
        b"\x16\x02\x01\x00\x05hello",
        b"\x15\x03\x01\x00\x02\x01\x00",
        b"\x16\x03\x01\x00\x04\x02\x00\x00\x00",
        b"\x16\x03\x01\xff\xff" + b"\1" * 100,
        b"\x80\x2e\x01\x03\x01",
        b"\x16\x03\x01\x00\x04\x01\xff\xff\xff",
    ],
)
def test_bytes_that_name_no_server_are_refused(data: bytes) -> None:
    with pytest.raises(NotNamedError):
        server_name(data)


def with_extension(data: bytes, kind: int, body: bytes) -> bytes:
    """A hello with one more, before all others."""
    found = bytearray(data)
    extension = kind.to_bytes(2, "big") + len(body).to_bytes(2, "big") + body
    at = 5 + 4 + 34
    at += 1 + found[at]
    at += 2 + int.from_bytes(found[at : at + 2], "big")
    at += 1 + found[at]
    for place, size in ((at, 2), (6, 3), (3, 2)):
        length = int.from_bytes(found[place : place + size], "big") + len(extension)
        found[place : place + size] = length.to_bytes(size, "big")
    found[at + 2 : at + 2] = extension
    return bytes(found)


def test_two_names_are_none() -> None:
    name = b"bad.example.com"
    body = (len(name) + 3).to_bytes(2, "big") + b"\0" + len(name).to_bytes(2, "big") + name
    assert server_name(with_extension(hello(None), 0, body)) == name.decode()
    with pytest.raises(NotNamedError):
        server_name(with_extension(hello("api.example.com"), 0, body))


def test_a_hello_with_another_inside_counts_by_the_name_outside() -> None:
    grease = b"\0\0\1\0\1\x2a\0\x20" + bytes(32) + b"\0\x90" + bytes(144)
    assert server_name(with_extension(hello("api.example.com"), 0xFE0D, grease)) == (
        "api.example.com"
    )
    with pytest.raises(NotNamedError):
        server_name(with_extension(hello(None), 0xFE0D, grease))


@given(st.data())
def test_a_changed_hello_never_names_anyone_else(data: st.DataObject) -> None:
    whole = bytearray(hello("api.example.com"))
    at = data.draw(st.integers(0, len(whole) - 1))
    where = bytes(whole).find(b"api.example.com")
    whole[at] ^= data.draw(st.integers(1, 255))
    try:
        found = server_name(bytes(whole))
    except NotNamedError:
        return
    if not where <= at < where + 15:
        assert found in (None, "api.example.com")


@pytest.mark.parametrize(
    ("request_", "host"),
    [
        (b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", "a.example"),
        (b"GET / HTTP/1.1\r\nHOST:A.Example:80\r\nX: y\r\n\r\nbody", "A.Example"),
        (b"POST http://a.example/x HTTP/1.0\r\n\r\n", "a.example"),
        (b"GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\n\r\n", "a.example"),
        (b"OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n", "a.example"),
    ],
)
def test_the_host_of_a_request_is_found(request_: bytes, host: str) -> None:
    assert host_header(request_) == host
    end = request_.index(b"\r\n\r\n") + 4
    assert {host_header(request_[:n]) for n in range(end)} == {None}


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"\x16\x03\x01",
        b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        b"GET / HTTP/1.1\r\n Host: a\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/1.1\nHost: a\n\n",
        b"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n",
        b"GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: y\r\n\tHost: b\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
        b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        b"\r\n\r\n",
        b"GET b HTTP/1.1\r\nHost: a\r\n\r\n",
        b"A" * 70000,
        b"GET / HTTP/1.1\r\nX: y\nHost: b\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_a_request_that_names_no_host_or_several_is_refused(data: bytes) -> None:
    with pytest.raises(NotNamedError):
        host_header(data)


@given(st.binary(max_size=300))
def test_any_bytes_are_named_or_not(data: bytes) -> None:
    for read in (server_name, host_header):
        try:
            read(data)
        except NotNamedError:
            pass
