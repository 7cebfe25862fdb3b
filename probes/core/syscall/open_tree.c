/* open_tree: a mount as a descriptor, and a copy of it. */
#define CAPABILITY "syscall_open_tree"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(gives_a_place) {
    struct stat one, two;
    int fd = (int)works(syscall(SYS_open_tree, AT_FDCWD, "/usr", OPEN_TREE_CLOEXEC), "open_tree");
    works(fstat(fd, &one), "fstat");
    works(stat("/usr", &two), "stat");
    want(one.st_ino == two.st_ino, "another place");
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC, "not marked for closing");
}

CHECK(copies_a_mount) {
    if (own_mounts() < 0 && errno != EPERM)
        works(-1, "a mount namespace");
    int flags = OPEN_TREE_CLONE | AT_RECURSIVE;
    int fd = (int)works(syscall(SYS_open_tree, AT_FDCWD, "/usr", flags), "open_tree");
    works(faccessat(fd, "bin/env", F_OK, 0), "faccessat beneath it");
}

CHECK(refuses_what_is_not_there) {
    refuses(syscall(SYS_open_tree, AT_FDCWD, "/nonexistent", 0), ENOENT, "open_tree of nothing");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_open_tree, AT_FDCWD, "/usr", 1 << 30), EINVAL, "with 1 << 30");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_open_tree, -1, "usr", 0), EBADF, "open_tree beneath -1");
}

CHECKS
