"""NetworkRules of a network by name: how they are written, and what they allow."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardian.errors import UsageError
from wardian.sandbox.network.addresses import parsed, special_range
from wardian.sandbox.network.rules import NetworkRules, normal_name, parse_rule


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("api.example.com", "api.example.com"),
        ("API.Example.COM.", "api.example.com"),
        ("*.github.com:443,22", "*.github.com:443,22"),
        ("**.example.org:8000-8010", "**.example.org:8000-8010"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"),
        ("10.1.2.0/24:5432", "10.1.2.0/24:5432"),
        ("10.1.2.3:22", "10.1.2.3:22"),
        ("[fd00::/8]:443", "[fd00::/8]:443"),
        ("[::1]", "[::1]"),
        ("_svc.example.com:1", "_svc.example.com:1"),
        ("localhost:3000", "localhost:3000"),
    ],
)
def test_a_rule_reads_back_as_it_was_meant(text: str, means: str) -> None:
    rule = parse_rule(text)
    assert str(rule) == means
    assert parse_rule(str(rule)) == rule


@pytest.mark.parametrize(
    "text",
    [
        "", " ", ":443", "*", "**", "*.com", "**.co.uk", "*.github.io", "*.*.example.com",
        "a*.example.com", "*a.example.com", "api.*.com", "example.com:", "example.com:0",
        "example.com:65536", "example.com:443-22", "example.com:x", "example.com:1-65535",
        "http://example.com", "example.com/path", "user@example.com", "a..example.com",
        ".example.com", "-a.example.com", "a-.example.com", "a" * 64 + ".example.com",
        "::1", "fd00::/8:443", "10.1.2.3/24", "10.1.2", "1.2.3.4.5", "0x7f.1", "2130706433",
        "exa mple.com", "example.com\n", "example\x00.com", "[::1", "[example.com]:443", "*.",
    ],
)  # fmt: skip
def test_what_is_no_rule_is_an_error_that_says_so(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_rule(text)
    assert str(caught.value)


@pytest.mark.parametrize(
    ("rule", "yes", "no"),
    [
        ("api.example.com", "api.example.com", "example.com x.api.example.com xapi.example.com"),
        ("*.example.com", "a.example.com", "example.com a.b.example.com aexample.com .example.com"),
        ("**.example.com", "a.example.com a.b.example.com", "example.com aexample.com"),
    ],
)  # fmt: skip
def test_stars_stand_for_whole_labels(rule: str, yes: str, no: str) -> None:
    rules = NetworkRules.parse([rule])
    assert [name for name in yes.split() if rules.allows_name(name, 443)] == yes.split()
    assert [name for name in no.split() if rules.allows_name(name, 443)] == []


def test_ports_are_80_and_443_unless_they_are_named() -> None:
    rules = NetworkRules.parse(["a.example", "b.example:22,8000-8002"])
    assert [port for port in (22, 80, 443, 8080) if rules.allows_name("a.example", port)] == [
        80,
        443,
    ]
    found = [port for port in range(65536) if rules.allows_name("b.example", port)]
    assert found == [22, 8000, 8001, 8002]


def test_deny_beats_allow_for_its_ports_alone() -> None:
    rules = NetworkRules.parse(["**.example.com:1-10"], ["bad.example.com:1-10", "*.example.com:5"])
    assert rules.ports_of("bad.example.com") == ()
    assert rules.ports_of("good.example.com") == ((1, 4), (6, 10))
    numbers = NetworkRules.parse(["10.0.0.0/8:80"], ["10.1.0.0/16:80"])
    assert numbers.allows_address(ip_address("10.2.0.1"), 80)
    assert not numbers.allows_address(ip_address("10.1.0.1"), 80)


def test_no_rule_allows_nothing() -> None:
    rules = NetworkRules()
    assert rules.ports_of("example.com") == ()
    assert not rules.allows_address(ip_address("93.184.216.34"), 443)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.255", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.168.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255",
        "::", "::1", "fc00::1", "fd12::1", "fe80::1", "fec0::1", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::10.0.0.1", "2002:7f00:1::", "2002:0a00:0001::1",
        "64:ff9b:1::7f00:1", "::ffff:0:127.0.0.1", "fe80::1%eth0", "100::1", "2001:db8::1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_the_internets_are_not_dialled_for_a_name(address: str) -> None:
    rules = NetworkRules.parse(["evil.example"])
    assert rules.why_not_dialled(parsed(address), 443) is not None


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::", "64:ff9b::5db8:d822"])
def test_addresses_of_the_internet_are(address: str) -> None:
    assert special_range(parsed(address)) is None
    assert NetworkRules.parse(["a.example"]).why_not_dialled(parsed(address), 443) is None


def test_a_rule_for_a_range_opens_it_for_names_too_on_its_ports() -> None:
    rules = NetworkRules.parse(["db.example:5432", "10.1.2.0/24:5432"])
    assert rules.why_not_dialled(parsed("10.1.2.9"), 5432) is None
    assert rules.why_not_dialled(parsed("::ffff:10.1.2.9"), 5432) is None
    assert rules.why_not_dialled(parsed("10.1.2.9"), 22) is not None
    assert rules.why_not_dialled(parsed("10.1.3.9"), 5432) is not None
    denied = NetworkRules.parse(["a.example"], ["93.184.0.0/16"])
    assert denied.why_not_dialled(parsed("93.184.216.34"), 443) is not None


@given(st.text())
def test_any_text_is_a_name_or_an_error(text: str) -> None:
    try:
        name = normal_name(text)
    except UsageError:
        return
    assert normal_name(name) == name
    assert name == name.lower()
    assert name.isascii()


@given(st.text(alphabet="ab.*:[]/0123456789,-", max_size=30))
def test_any_text_is_a_rule_that_reads_back_or_an_error(text: str) -> None:
    try:
        rule = parse_rule(text)
    except UsageError:
        return
    assert parse_rule(str(rule)) == rule


def test_rules_name_no_more_ranges_than_a_guest_can_have_routes() -> None:
    ranges = [f"10.{i}.0.0/16" for i in range(60)]
    assert len(NetworkRules.parse(ranges).networks) == 60
    with pytest.raises(UsageError, match="more than 60 ranges"):
        NetworkRules.parse([*ranges, "11.0.0.0/8"])
