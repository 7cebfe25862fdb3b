"""The authority of one sandbox, for hosts whose requests are looked at: made when it is needed, its
key only in this process's memory, and its certificate where programs of the guest look for those
that they trust."""

from __future__ import annotations

import datetime
import functools
import os
import ssl
import warnings
from collections.abc import Iterable
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from wardian.sandbox.root.shares import Source
from wardian.sandbox.workdir import WorkDir

DAYS = 30
INSIDE = "/etc/wardian/trust"
# Where systems keep what they trust, as one file; the first that this host has is what we add to.
BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
FOLDER = "/etc/ssl/certs"  # with a link for each, named by a hash of its subject
JAVA = "java/cacerts"
MOST_BYTES = 8 << 20
PASSWORD = b"changeit"  # Java's own, for a file that holds nothing secret


class _Named(NamedTuple):
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


class Authority:
    """Signs for ``hosts`` and no others, by its own certificate's word."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self._hosts = tuple(hosts)
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "wardian, for one sandbox")])
        permitted = [x509.DNSName(host) for host in self._hosts]
        usage = {
            one: one == "key_cert_sign"
            for one in (
                "digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
                "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
            )
        }  # fmt: skip
        builder = (
            _begun(name, name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(x509.KeyUsage(**usage), critical=True)
            .add_extension(x509.NameConstraints(permitted, None), critical=True)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
            )
        )
        self._own = _Named(builder.sign(key, hashes.SHA256()), key)

    @property
    def pem(self) -> bytes:
        """Its certificate, which is no secret."""
        return self._own.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def certificate(self) -> x509.Certificate:
        """The same."""
        return self._own.certificate

    @functools.cache  # noqa: B019 - as many as there are hosts, and it goes with them
    def context(self, host: str) -> ssl.SSLContext:
        """What this host's TLS is ended with: a certificate for exactly that name, HTTP/1.1."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host[:64])])
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._own.key.public_key())
        leaf = (
            _begun(subject, self._own.certificate.subject, key.public_key())
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(authority, critical=False)
            .sign(self._own.key, hashes.SHA256())
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_TICKET
        context.set_alpn_protocols(["http/1.1"])
        pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        _load(context, leaf.public_bytes(serialization.Encoding.PEM) + pem)
        return context


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=DAYS))
    )


def _load(context: ssl.SSLContext, pem: bytes) -> None:
    """Through memory: ssl takes keys from files alone, and this one is never in one."""
    fd = os.memfd_create("wardian", os.MFD_CLOEXEC)
    try:
        os.write(fd, pem)
        context.load_cert_chain(f"/proc/self/fd/{fd}")
    finally:
        os.close(fd)


class GuestTrust:
    """What a guest finds: ``sources`` are mounted, ``variables`` name them. The files are gone with
    this object; there is no secret in them."""

    def __init__(self, authority: Authority, *, system: bool, java: bool) -> None:
        """``system``: the host's own places are there, too, and get what is added. ``java``: a
        truststore is wanted. Raises OSError and SandboxError."""
        self._directory = WorkDir(guests=False)
        self.path = self._directory.path
        given = os.environ.get("SSL_CERT_FILE", "")
        known = next((path for path in (given, *BUNDLES) if path and os.path.isfile(path)), None)
        bundle = _with(_read(known) if known is not None else b"", authority)
        own = self._make("own")
        _write(f"{own}/ca.pem", authority.pem)
        _write(f"{own}/bundle.pem", bundle)
        self._for_java = _for_java(bundle) if java else None
        if self._for_java is not None:
            _write(f"{own}/cacerts.p12", self._for_java)
        self.sources = [Source(own, INSIDE, False, True, owner=False)]
        if system:
            self.sources += self._system(authority)
        os.chmod(self.path, 0o755)  # noqa: S103 - what is in it is for everyone to read

    @property
    def variables(self) -> dict[str, str]:
        """For programs that look elsewhere, or have a list of their own."""
        bundle, java = f"{INSIDE}/bundle.pem", f"{INSIDE}/cacerts.p12"
        names = (
            "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT",
            "CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE",
        )  # fmt: skip
        options = (
            f"-Djavax.net.ssl.trustStore={java} -Djavax.net.ssl.trustStoreType=PKCS12"
            f" -Djavax.net.ssl.trustStorePassword={PASSWORD.decode()}"
        )
        more = {"NODE_EXTRA_CA_CERTS": f"{INSIDE}/ca.pem", "DENO_CERT": f"{INSIDE}/ca.pem"}
        if self._for_java is not None:
            more["JAVA_TOOL_OPTIONS"] = options
        return dict.fromkeys(names, bundle) | more

    def _system(self, authority: Authority) -> list[Source]:
        """The host's own places, each with one certificate more."""
        sources = []
        if os.path.isdir(FOLDER):
            sources.append(Source(self._folder(authority), FOLDER, False, True, owner=False))
        for number, path in enumerate(BUNDLES):
            real = os.path.realpath(path)
            if os.path.isfile(real) and real == path and os.path.dirname(path) != FOLDER:
                _write(f"{self.path}/bundle-{number}", _with(_read(path), authority))
                sources.append(
                    Source(f"{self.path}/bundle-{number}", path, False, False, owner=False)
                )
        return sources

    def _folder(self, authority: Authority) -> str:
        made = self._make("certs")
        for entry in os.scandir(FOLDER):
            path = f"{made}/{entry.name}"
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), path)
            elif entry.is_file():
                whole, data = f"{FOLDER}/{entry.name}" in BUNDLES, _read(entry.path)
                _write(path, _with(data, authority) if whole else data)
        _write(f"{made}/wardian.pem", authority.pem)
        os.symlink("wardian.pem", f"{made}/{_subject_hash(authority.certificate)}.0")
        if os.path.isfile(f"{FOLDER}/{JAVA}") and self._for_java is not None:
            self._make(f"certs/{os.path.dirname(JAVA)}")
            _write(f"{made}/{JAVA}", self._for_java)
        return made

    def _make(self, name: str) -> str:
        os.mkdir(f"{self.path}/{name}", 0o755)
        os.chmod(f"{self.path}/{name}", 0o755)  # noqa: S103 - whatever the umask
        return f"{self.path}/{name}"


def _for_java(bundle: bytes) -> bytes:
    certificates = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of old ones with odd numbers
        for number, text in enumerate(bundle.split(b"-----BEGIN CERTIFICATE-----")[1:]):
            try:
                one = x509.load_pem_x509_certificate(b"-----BEGIN CERTIFICATE-----" + text)
            except ValueError:
                continue  # nobody else reads it either
            certificates.append(pkcs12.PKCS12Certificate(one, f"wardian-{number}".encode()))
    how = (
        serialization.PrivateFormat.PKCS12.encryption_builder()
        .kdf_rounds(2048)
        .key_cert_algorithm(pkcs12.PBES.PBESv2SHA256AndAES256CBC)
        .hmac_hash(hashes.SHA256())
        .build(PASSWORD)
    )
    return pkcs12.serialize_java_truststore(certificates, how)


def _subject_hash(certificate: x509.Certificate) -> str:
    """As OpenSSL names it in a folder: SHA-1 over the subject in its canonical form, in which ours,
    of one attribute in lower case, differs from DER by its type of string and the outer header."""
    import hashlib

    value = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value
    text = value.encode() if isinstance(value, str) else value
    common_name = bytes([0x06, 0x03, 0x55, 0x04, 0x03])
    inner = common_name + bytes([0x0C, len(text)]) + text
    pair = bytes([0x30, len(inner)]) + inner
    digest = hashlib.sha1(bytes([0x31, len(pair)]) + pair, usedforsecurity=False).digest()
    return f"{int.from_bytes(digest[:4], 'little'):08x}"


def _with(bundle: bytes, authority: Authority) -> bytes:
    return bundle.rstrip() + b"\n" + authority.pem


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(MOST_BYTES)


def _write(path: str, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)
        os.fchmod(file.fileno(), 0o644)
