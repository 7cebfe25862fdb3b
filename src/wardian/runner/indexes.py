"""Where packages come from: the user's own settings for pip, uv and npm, as variables and shares.

Package managers run in a sandbox too, so what the user configured has to be carried into it. With
``secrets=False``, which is when code of packages runs beside them, passwords and tokens stay out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

from wardian.sandbox.policy import Share
from wardian.sandbox.shares import is_below

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
_UV_INDEX = ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS")
_UV_OWN = ("UV_CACHE_DIR", "UV_PROJECT", "UV_WORKING_DIRECTORY", "UV_PYTHON", "UV_NO_CACHE")
_SECRET = re.compile(r"pass(word|wd)?|token|secret|auth|username|client[-_]cert|_key", re.I)
_INSIDE = ("/usr", "/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted")


class Settings(NamedTuple):
    """What a package manager gets: variables, the local indexes or certificates they name, and
    options for what no variable says."""

    variables: dict[str, str]
    shares: tuple[Share, ...]
    options: tuple[str, ...] = ()


def pip_settings(env: Mapping[str, str], *, secrets: bool) -> Settings:
    """pip's settings as PIP_ variables; its files need not be seen then."""
    chosen = {_variable(name): value for name, value in _pip_options(env).items()}
    return _settings({**_network(env), **chosen, "PIP_CONFIG_FILE": os.devnull}, secrets)


def uv_settings(env: Mapping[str, str], *, secrets: bool) -> Settings:
    """uv's settings; where it has none about indexes, pip's are put in uv's words."""
    chosen = {
        name: value for name, value in env.items() if name.startswith("UV_") and name not in _UV_OWN
    }
    options: tuple[str, ...] = ()
    config = _uv_config(env)
    if config is not None and secrets:
        chosen["UV_CONFIG_FILE"] = config
    elif not any(name in chosen for name in _UV_INDEX):
        pip = _pip_options(env)
        chosen |= _for_uv(pip)
        chosen["UV_NO_CONFIG"] = "1"
        if pip.get("no-index", "").lower() in ("1", "true", "yes", "on"):
            options = ("--no-index",)
    return _settings({**_network(env), **chosen}, secrets)._replace(options=options)


def npm_settings(env: Mapping[str, str], *, secrets: bool) -> Settings:
    """npm's settings from the user's .npmrc and variables, as variables."""
    chosen = {}
    for name, value in _npmrc(env).items():
        chosen[f"npm_config_{name}"] = value
    for name, value in env.items():
        if name.lower().startswith("npm_config_") and "cache" not in name.lower():
            chosen[name] = value
    for name in [name for name in chosen if _NPM_OURS.search(name)]:
        del chosen[name]
    return _settings({**_network(env), **chosen}, secrets)


_NPM_OURS = re.compile(r"npm_config_(prefix|userconfig|globalconfig|nodedir|script_shell)$", re.I)


def _settings(variables: dict[str, str], secrets: bool) -> Settings:
    if not secrets:
        variables = {
            name: " ".join(without_password(word) for word in value.split(" "))
            for name, value in variables.items()
            if not _SECRET.search(name)
        }
    shares = {path: Share(path, path) for path in _local(variables.values())}
    return Settings(variables, tuple(shares.values()))


def without_password(url: str) -> str:
    """The URL without the user and password in it."""
    if "@" not in url or "://" not in url:
        return url
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _network(env: Mapping[str, str]) -> dict[str, str]:
    return {name: env[name] for name in _NETWORK if name in env}


def _pip_options(env: Mapping[str, str]) -> dict[str, str]:
    """As pip does: the system's file, the user's files, then variables."""
    import configparser

    found: dict[str, str] = {}
    for path in _pip_files(env):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        for section in ("global", "install"):
            if parser.has_section(section):
                found |= {n: " ".join(v.split()) for n, v in parser.items(section) if n in _PIP}
    for name in _PIP:
        if _variable(name) in env:
            found[name] = env[_variable(name)]
    return found


def _pip_files(env: Mapping[str, str]) -> list[str]:
    named = env.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    home = os.path.expanduser("~")
    config = env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
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
    base = env.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    for path in (env.get("UV_CONFIG_FILE"), os.path.join(base, "uv/uv.toml"), "/etc/uv/uv.toml"):
        if path and os.path.isfile(path):
            return os.path.abspath(path)
    return None


def _npmrc(env: Mapping[str, str]) -> dict[str, str]:
    path = env.get("NPM_CONFIG_USERCONFIG") or env.get("npm_config_userconfig")
    try:
        with open(path or os.path.expanduser("~/.npmrc"), encoding="utf-8") as file:
            lines = file.read(1 << 20).splitlines()
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
    """Paths of this host that the values name and the sandbox lacks."""
    for value in values:
        for word in re.split(r"[\s,]+", value):
            path = unquote(urlsplit(word).path) if word.startswith("file://") else word
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
    return not any(is_below(path, root) for root in (*_INSIDE, "/proc", "/sys", "/dev"))
