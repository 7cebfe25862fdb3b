"""Package indexes, as their pages say it (PEP 503, PEP 691), and files that fit this Python."""

from __future__ import annotations

import html.parser
import json
import os
import re
import ssl
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

UNFIT = 1 << 30
PAGE_BYTES = 256 << 20
BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.1"


def opener(plan: dict[str, Any]) -> Any:
    """A function that opens a URL, with the name and password for its origin if there is one."""
    context = ssl.create_default_context()
    given = plan.get("certificates")
    paths = ssl.get_default_verify_paths()
    for bundle in [given] if given else [] if paths.cafile else BUNDLES:
        if os.path.exists(bundle):
            context.load_verify_locations(bundle)
            break
    logins = {origin: (user, password) for origin, user, password in plan.get("logins", ())}
    build = urllib.request.build_opener(
        urllib.request.HTTPSHandler(context=context), Redirects(), urllib.request.ProxyHandler()
    )

    def open_url(url: str, accept: str = "*/*") -> Any:
        if url.startswith("/"):
            return open(url, "rb")
        headers = {"Accept": accept, "User-Agent": "wardian"}
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 - file: is meant too
        if url.startswith(("http:", "https:")):
            login = logins.get(origin(url))
            if login is not None:
                request.add_unredirected_header("Authorization", basic(*login))
        return build.open(request, timeout=60)

    return open_url


class Redirects(urllib.request.HTTPRedirectHandler):
    """From https to https only, or within one machine; a password stays where it was meant for."""

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        was, now = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        if now.scheme not in ("http", "https") or (was.scheme == "https" != now.scheme):
            raise urllib.error.URLError(f"{req.full_url} leads to {now.scheme}:")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def basic(user: str, password: str) -> str:
    import base64

    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def origin(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}"


def filename(url: str) -> str:
    return urllib.parse.unquote(urllib.parse.urlsplit(url).path.rpartition("/")[2])


# Wheels and this Python


def ranks() -> dict[Any, int]:
    """The tags that this Python takes, best first."""
    from packaging.tags import sys_tags

    return {tag: number for number, tag in enumerate(sys_tags())}


def rank(name: str, tags: dict[Any, int]) -> int:
    """How well a wheel fits; UNFIT if it does not."""
    from packaging.utils import parse_wheel_filename

    if not tags:
        return 0
    try:
        found = parse_wheel_filename(name)[3]
    except ValueError:
        return UNFIT
    return min((tags[tag] for tag in found if tag in tags), default=UNFIT)


# Pages


class Links(html.parser.HTMLParser):
    """The files of a PEP 503 page."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self.base = base
        self.files: list[dict[str, Any]] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        given = dict(attrs)
        if tag == "base" and given.get("href"):
            self.base = urllib.parse.urljoin(self.base, given["href"])
        if tag == "a" and given.get("href"):
            url = urllib.parse.urljoin(self.base, given["href"])
            url, _, fragment = url.partition("#")
            name, _, value = fragment.partition("=")
            self.files.append(
                {
                    "filename": filename(url),
                    "url": url,
                    "hashes": {name: value} if re.fullmatch(r"[0-9a-fA-F]{32,}", value) else {},
                    "requires-python": given.get("data-requires-python"),
                    "yanked": "data-yanked" in given,
                    "core-metadata": any(
                        n in given for n in ("data-core-metadata", "data-dist-info-metadata")
                    ),
                }
            )


def files_of(name: str, plan: dict[str, Any], open_url: Any) -> list[Any]:
    """All files that the indexes and find-links have of a package."""
    found: list[Any] = []
    for index in plan["indexes"]:
        url = index.rstrip("/") + "/" + name + "/"
        found += page(url, open_url)
    for place in plan["find_links"]:
        found += folder(place, open_url)
    return found


def page(url: str, open_url: Any) -> list[Any]:
    try:
        if url.startswith("file:"):
            path = urllib.request.url2pathname(urllib.parse.urlsplit(url).path)
            with open(os.path.join(path, "index.html"), "rb") as file:
                return links(url, file.read(PAGE_BYTES).decode("utf-8", "replace"))
        with open_url(url, ACCEPT) as answer:
            text = answer.read(PAGE_BYTES).decode("utf-8", "replace")
            kind, url = answer.headers.get_content_type(), answer.geturl()
    except OSError:
        return []
    if not kind.endswith("json"):
        return links(url, text)
    files = json.loads(text).get("files", [])
    return [{**one, "url": urllib.parse.urljoin(url, one["url"])} for one in files]


def links(url: str, text: str) -> list[Any]:
    parser = Links(url)
    parser.feed(text)
    return parser.files


def folder(place: str, open_url: Any) -> list[Any]:
    path = (
        urllib.request.url2pathname(urllib.parse.urlsplit(place).path)
        if place.startswith("file:")
        else place
    )
    if not path.startswith("/"):
        return page(place, open_url)
    try:
        names = os.listdir(path)
    except OSError:
        return []
    return [
        {"filename": one, "url": os.path.join(path, one), "hashes": {}} for one in sorted(names)
    ]
