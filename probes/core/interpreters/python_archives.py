"""Python can pack and unpack archives (zip, tar)."""

import io
import sys
import tarfile
import zipfile

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "interpreters_python_archives"


def exercise():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", "x" * 1000)
    assert zipfile.ZipFile(packed).read("a") == b"x" * 1000
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.add("/usr/bin/env", "env")
    packed.seek(0)
    with tarfile.open(fileobj=packed) as archive:
        assert archive.getnames() == ["env"]
    return "packed a zip and a tar"


main(CAPABILITY, exercise)
