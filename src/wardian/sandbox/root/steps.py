"""The root as the launcher's set-up steps: what ``root`` describes, and our own /dev and /proc."""

from __future__ import annotations

from wardian.sandbox.root.layout import MQUEUE, NESTING, PTYS, Layout, layout
from wardian.sandbox.root.root import Root
from wardian.sandbox.root.shares import Source
from wardian.sandbox.run.records import (
    BIND_COPY,
    BIND_DEVICE,
    BIND_OPTIONAL,
    BIND_OWNER,
    BIND_WRITE,
    record,
)


def root_steps(root: Root, *, proc: bool, nests: bool) -> list[bytes]:
    """The records that build the root, in order. ``proc``: it is mounted; ``nests``: the guest may
    make user namespaces of its own."""
    shape = layout()
    steps = [record("root", root.space, root.most_files)]
    for path, source, link in root.base:
        if link:
            steps.append(record("symlink", link, path))
        else:
            steps.append(record("bind", source, path, BIND_OPTIONAL))
    steps += [record("file", path, 0o644, content) for path, content in root.files]
    steps += _devices(shape)
    steps += _proc(shape, nests=nests) if proc else [record("dir", "/proc", 0o555)]
    steps += [record("private", path, mode) for path, mode in root.private]
    steps += [_bind(source) for source in root.sources]
    steps += [record("watch", source.path) for source in root.sources if source.write]
    return steps


def _proc(shape: Layout, *, nests: bool) -> list[bytes]:
    """Where namespaces may be nested, the count that would refuse them is left out."""
    return [
        record("proc", "/proc"),
        *(
            record("sysctl", value, path)
            for path, value in shape.sysctl
            if not (nests and path == NESTING)
        ),
        *(record("mask", path) for path in shape.masks),
        record("only", "/proc", "".join(f"{name} " for name in shape.proc)),
    ]


def _bind(source: Source) -> bytes:
    if source.link:
        return record("symlink", source.link, source.at)
    flags = (BIND_WRITE if source.write else 0) | (BIND_OWNER if source.owner else 0)
    flags |= BIND_COPY if source.copy else 0
    return record("bind", source.path, source.at, flags)


def _devices(shape: Layout) -> list[bytes]:
    steps = [
        record("bind", f"/dev/{name}", f"/dev/{name}", BIND_WRITE | BIND_DEVICE)
        for name in shape.devices
    ]
    steps.append(record("devpts", "/dev/pts", PTYS))
    steps.append(record("mqueue", MQUEUE))
    links = {"ptmx": "pts/ptmx", "fd": "/proc/self/fd"}
    links |= {name: f"/proc/self/fd/{i}" for i, name in enumerate(("stdin", "stdout", "stderr"))}
    steps += [record("symlink", target, f"/dev/{name}") for name, target in links.items()]
    return steps
