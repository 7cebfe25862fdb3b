"""Certificates that the system trusts are there, as every TLS client needs."""

import os
import ssl
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "network_tls_context"


def exercise():
    places = ssl.get_default_verify_paths()
    if not places.cafile and not (places.capath and os.listdir(places.capath)):
        raise Blocked("there are no certificates", "ENOENT")
    ssl.create_default_context()
    return "made a TLS context with certificates"


main(CAPABILITY, exercise)
