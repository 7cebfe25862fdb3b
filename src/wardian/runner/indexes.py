"""Where packages come from: the user's own settings for pip, uv and npm, as variables and shares.

They are carried into the sandbox that fetches, and into no other: where code of packages could
run, there are no settings at all. A skill has no say in any of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

from wardian.homes import user_directory
from wardian.sandbox.policy.policy import Share
from wardian.sandbox.root.shares import is_below

_NETWORK = (
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy",
    "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
)  # fmt: skip
# What of pip's settings says where packages come from; the rest is about installing.
_PIP = (
    "index-url", "extra-index-url", "find-links", "no-index", "trusted-host", "cert",
    "client-cert", "proxy", "timeout", "default-timeout", "retries",
)  # fmt: skip
_PIP_INDEX = ("index-url", "extra-index-url", "find-links")
_UV_INDEX = ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS")
_UV = re.compile(
    r"UV_(INDEX(_URL|_STRATEGY|_\w+_(USERNAME|PASSWORD))?|DEFAULT_INDEX|EXTRA_INDEX_URL|FIND_LINKS"
    r"|KEYRING_PROVIDER|INSECURE_HOST|NATIVE_TLS|SYSTEM_CERTS|SSL_CERT|CLIENT_CERT|HTTP_TIMEOUT"
    r"|REQUEST_TIMEOUT|HTTP_RETRIES|CONCURRENT_DOWNLOADS|EXCLUDE_NEWER|PRERELEASE|NO_CONFIG"
    r"|OFFLINE|HTTPS?_PROXY|ALL_PROXY|NO_PROXY)"
)
_NPM = re.compile(
    r"(@[\w.~-]+:)?registry|//.+:(_authToken|_auth|username|_password|email|certfile|keyfile)"
    r"|_authToken|_auth|username|_password|email|always[-_]auth|(https?[-_])?proxy|noproxy|ca|cafile"
    r"|cert|key|strict[-_]ssl|fetch[-_]\w+([-_]\w+)*|maxsockets|replace[-_]registry[-_]host|before",
    re.I,
)
INSIDE = ("/usr", "/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted")
CONFIG_BYTES = 1 << 20


class Login(NamedTuple):
    """Name and password for one origin, ``https://host:port``."""

    origin: str
    user: str
    password: str


class Settings(NamedTuple):
    """What a package manager gets: variables, the local indexes or certificates they name, options
    for what no variable says; and what wardian's own downloads need of the same."""

    variables: dict[str, str]
    shares: tuple[Share, ...]
    options: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()  # URLs, without names and passwords
    find_links: tuple[str, ...] = ()
    logins: tuple[Login, ...] = ()
    certificates: str | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be printed."""
        named = (v for n, v in self.variables.items() if _SECRET.search(n) and "://" not in v)
        found = {login.password or login.user for login in self.logins} | set(named)
        found |= {unquote(word) for value in self.variables.values() for word in _inner(value)}
        return tuple(sorted((one for one in found if len(one) >= 3), key=len, reverse=True))


_SECRET = re.compile(r"pass(word|wd)?|token|secret|_auth|username|_key$", re.I)


def pip_settings(env: Mapping[str, str]) -> Settings:
    """pip's settings as PIP_ variables; its files need not be seen then."""
    options = _pip_options(env)
    chosen = {_variable(name): value for name, value in options.items()}
    found = _settings({**_network(env), **chosen, "PIP_CONFIG_FILE": os.devnull})
    return _with_indexes(found, options)


def _with_indexes(settings: Settings, pip: Mapping[str, str]) -> Settings:
    urls = [u for name in ("index-url", "extra-index-url") for u in words(pip.get(name, ""))]
    if "index-url" not in pip:
        urls.insert(0, "https://pypi.org/simple")
    if _is_on(pip.get("no-index", "")):
        urls = []
    return settings._replace(
        indexes=tuple(map(without_password, urls)),
        find_links=tuple(map(without_password, words(pip.get("find-links", "")))),
        logins=tuple(login for value in pip.values() for login in logins_in(value)),
        certificates=pip.get("cert"),
    )


def uv_settings(env: Mapping[str, str]) -> Settings:
    """uv's settings; where it has none about indexes, pip's are put in uv's words."""
    chosen = {name: value for name, value in env.items() if _UV.fullmatch(name)}
    config = None if _is_on(env.get("UV_NO_CONFIG", "")) else _uv_config(env)
    if config is not None:
        chosen["UV_CONFIG_FILE"] = config
        return _from_uv(_settings({**_network(env), **chosen}), _uv_table(config))
    chosen["UV_NO_CONFIG"] = "1"
    if any(name in chosen for name in _UV_INDEX):
        return _from_uv(_settings({**_network(env), **chosen}), {})
    pip = _pip_options(env)
    options = ("--no-index",) if _is_on(pip.get("no-index", "")) else ()
    found = _settings({**_network(env), **chosen, **_for_uv(pip)})
    return _with_indexes(found, pip)._replace(options=options)


def _from_uv(settings: Settings, table: Mapping[str, Any]) -> Settings:
    """The same, with what uv's variables and its file say about indexes."""
    given = settings.variables
    named = dict(_named_indexes(given, table))
    logins = [login for value in given.values() for login in logins_in(value)]
    for name, url in named.items():
        logins += logins_in(url)
        key = re.sub(r"[^A-Z0-9]", "_", name.upper())
        user = given.get(f"UV_INDEX_{key}_USERNAME")
        if user is not None:
            logins.append(Login(origin(url), user, given.get(f"UV_INDEX_{key}_PASSWORD", "")))
    urls = list(named.values())
    if (
        not any(n in given for n in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"))
        and "#default" not in named
    ):
        urls.append("https://pypi.org/simple")
    links = [*words(given.get("UV_FIND_LINKS", "")), *_texts(table.get("find-links"))]
    return settings._replace(
        indexes=tuple(map(without_password, urls)),
        find_links=tuple(map(without_password, links)),
        logins=tuple(logins),
        shares=settings.shares + tuple(Share(p, p) for p in _local([*urls, *links])),
        certificates=given.get("SSL_CERT_FILE"),
    )


def _named_indexes(given: Mapping[str, str], table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and URLs; those without a name get a number."""
    for number, word in enumerate(
        one for variable in _UV_INDEX[:4] for one in given.get(variable, "").split()
    ):
        name, equals, url = word.partition("=")
        plain = bool(equals) and re.fullmatch(r"[\w.-]+", name) is not None
        yield (name, url) if plain else (f"#{number}", word)
    tables = [table, table.get("pip") if isinstance(table.get("pip"), dict) else {}]
    for at, one in enumerate(filter(None, tables)):
        for number, index in enumerate(_tables(one.get("index"))):
            if isinstance(index.get("url"), str):
                yield str(index.get("name") or f"#toml-{at}-{number}"), index["url"]
        if isinstance(one.get("index-url"), str):
            yield "#default", one["index-url"]
        for number, url in enumerate(_texts(one.get("extra-index-url"))):
            yield f"#extra-{at}-{number}", url


def _tables(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def npm_settings(env: Mapping[str, str]) -> Settings:
    """npm's settings from the user's .npmrc and variables, as variables."""
    chosen = {f"npm_config_{name}": value for name, value in _npmrc(env).items()}
    for name, value in env.items():
        if name.lower().startswith("npm_config_"):
            chosen[name] = value
    kept = {n: v for n, v in chosen.items() if _NPM.fullmatch(n[len("npm_config_") :])}
    urls = [v for n, v in kept.items() if n.lower().endswith("registry")]
    if not any(name.lower() == "npm_config_registry" for name in kept):
        urls.insert(0, "https://registry.npmjs.org/")
    found = _settings({**_network(env), **kept})
    return found._replace(indexes=tuple(map(without_password, urls)))


def _settings(variables: dict[str, str]) -> Settings:
    shares = {path: Share(path, path) for path in _local(variables.values())}
    return Settings(variables, tuple(shares.values()))


# URLs and what is secret in them

_USERINFO = re.compile(r"(?<=://)[^/\s,?#]*@")
_WORD = re.compile(r"[^\s,]+")


def words(value: str) -> list[str]:
    """The URLs or paths of a value that may hold several, by space, line or comma."""
    return [word for word in re.split(r"[\s,]+", value) if word]


def bare(word: str) -> str:
    """The URL of ``NAME=URL``."""
    head = word.partition("://")[0]
    return word[head.rfind("=") + 1 :] if "://" in word else word


def without_password(url: str) -> str:
    """The URL without user, password, query and fragment, in which tokens are written too."""
    if "://" not in url:
        return url
    parts = urlsplit(bare(url))
    plain = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
    return url[: -len(bare(url))] + urlunsplit(plain)


def without_passwords(text: str) -> str:
    """A text in which no URL holds a password or a query; in time that grows with its length."""
    return _WORD.sub(_without_query, _USERINFO.sub("", text))


def _without_query(word: re.Match[str]) -> str:
    head, slashes, rest = word[0].partition("://")
    return head + slashes + re.split(r"[?#]", rest, maxsplit=1)[0]


def logins_in(value: str) -> list[Login]:
    """Names and passwords in the URLs of a value."""
    found = []
    for url in map(bare, words(value)):
        parts = urlsplit(url)
        info, at, _ = parts.netloc.rpartition("@")
        if at and parts.scheme in ("http", "https"):
            user, _, password = info.partition(":")
            found.append(Login(origin(url), unquote(user), unquote(password)))
    return found


def origin(url: str) -> str:
    """``https://host:port`` of a URL, in one spelling."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    port = port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}"


def _inner(value: str) -> Iterator[str]:
    """The passwords, tokens and queries that stand inside the URLs of a value."""
    for url in map(bare, words(value)):
        parts = urlsplit(url) if "://" in url else urlsplit("")
        user, _, password = parts.netloc.rpartition("@")[0].partition(":")
        yield password or user
        for pair in re.split(r"[&;]", parts.query):
            yield pair.partition("=")[2]


# The user's own files


def _network(env: Mapping[str, str]) -> dict[str, str]:
    return {name: env[name] for name in _NETWORK if name in env}


def _is_on(value: str) -> bool:
    return value.strip().lower() in ("1", "true", "yes", "on")


def _pip_options(env: Mapping[str, str]) -> dict[str, str]:
    """As pip does: the system's file, the user's files, then variables."""
    import configparser

    found: dict[str, str] = {}
    for path in _pip_files(env):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError, OSError):
            continue
        for section in ("global", "install"):
            if parser.has_section(section):
                found |= {n: " ".join(v.split()) for n, v in parser.items(section) if n in _PIP}
    for name in _PIP:
        if _variable(name) in env:
            found[name] = " ".join(env[_variable(name)].split())
    return found


def _pip_files(env: Mapping[str, str]) -> list[str]:
    named = env.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    home = os.path.expanduser("~")
    config = user_directory("config", env)
    files = ["/etc/xdg/pip/pip.conf", "/etc/pip.conf"]
    files += [os.path.join(home, ".pip/pip.conf"), os.path.join(config, "pip/pip.conf")]
    return [*files, named] if named else files


def _variable(name: str) -> str:
    return "PIP_" + name.upper().replace("-", "_")


def _for_uv(pip: Mapping[str, str]) -> dict[str, str]:
    said = {}
    if "index-url" in pip:
        said["UV_DEFAULT_INDEX"] = pip["index-url"]
    if "extra-index-url" in pip:
        said["UV_INDEX"] = pip["extra-index-url"]
        said["UV_INDEX_STRATEGY"] = "unsafe-best-match"  # as pip: the best version of all indexes
    if "find-links" in pip:
        said["UV_FIND_LINKS"] = ",".join(pip["find-links"].split())
    if "trusted-host" in pip:
        said["UV_INSECURE_HOST"] = pip["trusted-host"]
    if "cert" in pip:
        said["SSL_CERT_FILE"] = pip["cert"]
    return said


def _uv_config(env: Mapping[str, str]) -> str | None:
    base = user_directory("config", env)
    for path in (env.get("UV_CONFIG_FILE"), os.path.join(base, "uv/uv.toml"), "/etc/uv/uv.toml"):
        if path and os.path.isfile(path):
            return os.path.abspath(path)
    return None


def _uv_table(path: str) -> dict[str, Any]:
    import tomllib

    try:
        with open(path, "rb") as file:
            return tomllib.loads(file.read(CONFIG_BYTES).decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}


def _npmrc(env: Mapping[str, str]) -> dict[str, str]:
    path = env.get("NPM_CONFIG_USERCONFIG") or env.get("npm_config_userconfig")
    try:
        with open(path or os.path.expanduser("~/.npmrc"), encoding="utf-8") as file:
            lines = file.read(CONFIG_BYTES).splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    found = {}
    for line in lines:
        name, equals, value = line.partition("=")
        if equals and not line.lstrip().startswith(("#", ";")):
            plain = re.sub(r"\$\{(\w+)\}", lambda m: env.get(m[1], m[0]), value.strip().strip('"'))
            found[name.strip()] = plain
    return found


def _local(values: Iterable[str]) -> Iterator[str]:
    """Paths of this host that the user's values name and the sandbox lacks."""
    for value in values:
        for url in map(bare, words(value)):
            path = unquote(urlsplit(url).path) if url.startswith("file://") else url
            if not path.startswith("/") or not os.path.exists(path):
                continue
            path = os.path.normpath(path)
            if os.path.basename(path) == "simple" and _is_safe(os.path.dirname(path)):
                path = os.path.dirname(path)  # PEP 503 pages link to files beside them
            if _is_safe(path):
                yield path


def _is_safe(path: str) -> bool:
    """Neither there already, nor a home, nor the system's own."""
    if path.count("/") < 2 or is_below(os.path.expanduser("~"), path):
        return False
    return not any(is_below(path, root) for root in (*INSIDE, "/proc", "/sys", "/dev"))
