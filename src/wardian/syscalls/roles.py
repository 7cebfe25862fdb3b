"""The roles that arguments of syscalls can have: the closed vocabulary of the ``arguments`` column.

POINTERS   the register holds an address, and the kernel reads or writes what lies there
NUMBERS    the register holds the value itself
FAMILIES   a number whose values or bits have names in the kernel's headers, see names.tsv

A role says how to read an argument, no more: that the first ``fd`` of tee is read and the second
written is the reason's business. Both architectures have the same roles in the same order; where
they differ, in the last two of clone (arm64 has tls first), the role is ``any``.
"""

from __future__ import annotations

POINTERS: dict[str, str] = {
    "path": "text that ends in NUL and names a file, relative to a `dirfd` before it",
    "str": "other text that ends in NUL",
    "strs": "pointers to such texts, up to a NULL: argv and envp",
    "in": "something that the kernel reads",
    "out": "something that the kernel writes",
    "inout": "something that the kernel reads and writes",
    "sockaddr": "a socket address that the kernel reads, as long as the `addrlen` after it",
    "msghdr": "a struct msghdr: address, buffers and ancillary data of a message",
    "mmsghdr": "an array of struct mmsghdr",
    "iovec": "an array of struct iovec, as many as the `size` after it",
    "timespec": "a struct timespec that the kernel reads",
    "sigset": "a set of signals that the kernel reads",
    "openhow": "a struct open_how: flags, mode and resolve of openat2",
    "cloneargs": "a struct clone_args: flags, exit signal and more of clone3",
}

NUMBERS: dict[str, str] = {
    "fd": "a descriptor; -1 for none",
    "dirfd": "the descriptor of a directory, or AT_FDCWD",
    "pid": "a process, thread, group or session; 0 for the caller, negative for groups",
    "uid": "a user; -1 for no change",
    "gid": "a group; -1 for no change",
    "mode": "permission bits",
    "dev": "a device's number",
    "size": "how many bytes or items",
    "addrlen": "the length of the `sockaddr` before it",
    "offset": "a place in a file, or a length that may be negative",
    "addr": "a place in the caller's memory that is acted on, and not read or written as data",
    "int": "a signed number of 32 bits",
    "uint": "an unsigned number of 32 bits",
    "long": "a signed number of 64 bits",
    "ulong": "an unsigned number of 64 bits",
    "flags": "bits whose names are not worth a family",
    "any": "number or pointer, as an argument before it says, or unused",
}

WHOLE = 0xFFFFFFFF

FAMILIES: dict[str, tuple[int, str]] = {
    # The mask has the bits that hold one value together; each of the others is a flag of its own.
    "access": (0, "what to ask for: R_OK, W_OK, X_OK"),
    "accessflags": (0, "AT_ flags of faccessat2, which reads 0x200 as AT_EACCESS"),
    "archprctl": (WHOLE, "the command of arch_prctl"),
    "atflags": (0, "AT_ flags"),
    "bpfcmd": (WHOLE, "the command of bpf"),
    "clock": (WHOLE, "a clock"),
    "cloneflags": (0xFF, "CLONE_ flags, and the signal that the parent gets"),
    "closeflags": (0, "flags of close_range"),
    "epollop": (WHOLE, "the command of epoll_ctl"),
    "fadvice": (WHOLE, "how a file will be read"),
    "fallocflags": (0, "flags of fallocate"),
    "fcntl": (WHOLE, "the command of fcntl"),
    "fdflags": (0, "O_CLOEXEC and O_NONBLOCK of a new descriptor"),
    "flock": (0, "the command of flock"),
    "fsconfig": (WHOLE, "the command of fsconfig"),
    "futexop": (0x7F, "the command of futex, and its flags"),
    "idtype": (WHOLE, "what the `pid` of waitid is"),
    "inotifymask": (0, "events to watch for"),
    "ioctl": (WHOLE, "the request of ioctl"),
    "ipccmd": (WHOLE, "the command of semctl, shmctl and msgctl"),
    "ipcflags": (0, "IPC_ flags and permission bits"),
    "itimer": (WHOLE, "an interval timer"),
    "keyctl": (WHOLE, "the command of keyctl"),
    "madvice": (WHOLE, "how memory will be used"),
    "mapflags": (0xF, "how a mapping is shared, and its flags"),
    "memfdflags": (0, "flags of memfd_create"),
    "mountflags": (0, "MS_ flags"),
    "mremapflags": (0, "flags of mremap"),
    "msgflags": (0, "MSG_ flags"),
    "msyncflags": (0, "flags of msync"),
    "nodemode": (0o170000, "a file's type and its permission bits"),
    "oflags": (0o3, "how to open, and O_ flags"),
    "personality": (0xFF, "an execution domain and its flags"),
    "prctl": (WHOLE, "the command of prctl"),
    "priority": (WHOLE, "what the number after it is"),
    "prot": (0, "whether memory may be read, written, run"),
    "ptrace": (WHOLE, "the command of ptrace"),
    "randomflags": (0, "flags of getrandom"),
    "rebootcmd": (WHOLE, "the command of reboot"),
    "renameflags": (0, "flags of renameat2"),
    "rlimit": (WHOLE, "a resource that has a limit"),
    "rusage": (WHOLE, "whose use is asked for"),
    "rwflags": (0, "RWF_ flags"),
    "schedpolicy": (0xBFFFFFFF, "a scheduling policy"),
    "seccompflags": (0, "flags of seccomp"),
    "seccompop": (WHOLE, "the command of seccomp"),
    "shmflags": (0, "flags of shmat"),
    "shuthow": (WHOLE, "which direction to shut"),
    "sighow": (WHOLE, "how to change the signal mask"),
    "signal": (WHOLE, "a signal"),
    "sockfamily": (WHOLE, "an address family"),
    "socklevel": (WHOLE, "the protocol that an option belongs to"),
    "sockoption": (WHOLE, "an option; its meaning depends on the `socklevel`"),
    "sockprotocol": (WHOLE, "a protocol; its meaning depends on the `sockfamily`"),
    "socktype": (0xF, "a socket's type, and flags of its descriptor"),
    "spliceflags": (0, "SPLICE_F_ flags"),
    "statxmask": (0, "facts that statx is to tell"),
    "syslog": (WHOLE, "the command of syslog"),
    "timerflags": (0, "flags of a timer or sleep"),
    "treeflags": (0, "flags of open_tree"),
    "umountflags": (0, "flags of umount2"),
    "unlinkflags": (0, "AT_ flags of unlinkat, which reads 0x200 as AT_REMOVEDIR"),
    "unshareflags": (0, "CLONE_ flags of unshare and setns"),
    "waitflags": (0, "flags of wait4 and waitid"),
    "whence": (WHOLE, "from where an offset counts"),
    "xattrflags": (0, "flags of setxattr"),
}
