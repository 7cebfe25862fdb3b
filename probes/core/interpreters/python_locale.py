"""Python speaks UTF-8, on its streams and for file names."""

import locale
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "interpreters_python_locale"


def exercise():
    found = {sys.getfilesystemencoding(), sys.stdout.encoding, locale.getpreferredencoding(False)}
    if {name.lower().replace("-", "") for name in found} != {"utf8"}:
        raise Blocked(f"encodings: {', '.join(sorted(found))}")
    return "UTF-8 everywhere"


main(CAPABILITY, exercise)
