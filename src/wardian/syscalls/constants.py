"""The kernel constants that the syscall table may name: values that x86-64 and arm64 share."""

from __future__ import annotations

# Spelled as the kernel's headers spell them, except where a comment says otherwise. Left out on
# purpose: O_DIRECTORY, O_NOFOLLOW, O_DIRECT and O_LARGEFILE, whose values differ on arm64.
CONSTANTS: dict[str, int] = {
    # open(2)
    "O_CREAT": 0o100,
    "O_TMPFILE_BIT": 0o20000000,  # __O_TMPFILE; O_TMPFILE itself contains O_DIRECTORY
    "O_CHANGES": 0o1103,  # ours: O_WRONLY|O_RDWR|O_CREAT|O_TRUNC
    "O_PATH": 0o10000000,
    # stat(2)
    "S_IFMT": 0o170000,
    "S_IFCHR": 0o020000,
    "S_IFBLK": 0o060000,
    "S_ISUID": 0o4000,
    "S_ISGID": 0o2000,
    "SET_ID_BITS": 0o6000,  # ours: S_ISUID|S_ISGID
    # clone(2)
    "CLONE_NEWTIME": 0x00000080,  # in clone itself this bit belongs to the exit signal
    "CLONE_NEWNS": 0x00020000,
    "CLONE_NEWCGROUP": 0x02000000,
    "CLONE_NEWUTS": 0x04000000,
    "CLONE_NEWIPC": 0x08000000,
    "CLONE_NEWUSER": 0x10000000,
    "CLONE_NEWPID": 0x20000000,
    "CLONE_NEWNET": 0x40000000,
    "NAMESPACE_FLAGS": 0x7E020000,  # ours: the seven above, without CLONE_NEWTIME
    # socket(2)
    "AF_UNIX": 1,
    "AF_INET": 2,
    "AF_INET6": 10,
    "AF_KEY": 15,
    "AF_NETLINK": 16,
    "AF_PACKET": 17,
    "NETLINK_ROUTE": 0,
    "SOCK_TYPE_MASK": 0xF,
    "SOCK_RAW": 3,
    "SOCK_PACKET": 10,
    "IPPROTO_ICMP": 1,
    "IPPROTO_TCP": 6,
    "IPPROTO_UDP": 17,
    "IPPROTO_ICMPV6": 58,
    "IPPROTO_UDPLITE": 136,
    # ioctl(2)
    "TIOCSTI": 0x5412,
    "TIOCLINUX": 0x541C,
    "TIOCCONS": 0x541D,
    "TIOCSETD": 0x5423,
    "KD_IOCTLS": 0x4B00,  # ours: linux/kd.h uses 0x4B00 to 0x4BFF
    "VT_IOCTLS": 0x5600,  # ours: linux/vt.h uses 0x5600 to 0x56FF
    # getrlimit(2)
    "RLIMIT_CORE": 4,
    # chown(2), setresuid(2)
    "OWN_ID": 1000,  # ours: the one user and group that the guest's namespace maps
    "UNCHANGED": 0xFFFFFFFF,  # ours: -1 leaves an ID as it is; setuid(2) has its own error for it
    # open_tree(2)
    "OPEN_TREE_CLONE": 1,
    # fanotify_init(2): without a capability only events that name files, in no special class.
    "FAN_CLASSES_AND_UNLIMITED": 0x3C,  # ours
    "FAN_NAMES_FILES": 0xE00,  # ours: FAN_REPORT_FID and those that need it
    # prctl(2), personality(2)
    "PR_SET_MM": 35,
    "PR_SET_MM_MAP": 14,
    "PR_SET_MM_MAP_SIZE": 15,
    # ours: all but the domain itself, SHORT_INODE, WHOLE_SECONDS and STICKY_TIMEOUTS
    "PERSONALITY_HARMS": 0xF8FFFF00,
    "PERSONALITY_QUERY": 0xFFFFFFFF,  # ours: asks and changes nothing
}
