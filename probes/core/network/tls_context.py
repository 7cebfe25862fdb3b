"""Certificates that the system trusts can be loaded."""

import ssl
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "network_tls_context"


def exercise():
    context = ssl.create_default_context()
    if not context.cert_store_stats()["x509_ca"] and not context.get_ca_certs():
        import os

        if not os.path.exists(ssl.get_default_verify_paths().openssl_capath):
            raise Blocked("there are no certificates", "ENOENT")
    return "made a TLS context with certificates"


main(CAPABILITY, exercise)
