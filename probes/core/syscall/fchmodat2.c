/* fchmodat2: the permission bits of a file, with flags. */
#define CAPABILITY "syscall_fchmodat2"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

CHECK(changes_the_bits) {
    struct stat facts;
    int fd = file_with("file", "");
    works(syscall(SYS_fchmodat2, AT_FDCWD, "file", 0751, 0), "fchmodat2");
    works(fstat(fd, &facts), "fstat");
    want((facts.st_mode & 07777) == 0751, "mode %o", facts.st_mode & 07777);
}

CHECK(takes_an_open_file) {
    struct stat facts;
    int fd = file_with("file", "");
    works(syscall(SYS_fchmodat2, fd, "", 0751, AT_EMPTY_PATH), "fchmodat2");
    works(fstat(fd, &facts), "fstat");
    want((facts.st_mode & 07777) == 0751, "mode %o", facts.st_mode & 07777);
}

CHECK(leaves_what_a_link_points_to_if_asked) {
    struct stat facts;
    int fd = file_with("file", "");
    works(symlink("file", "link"), "symlink");
    refuses(syscall(SYS_fchmodat2, AT_FDCWD, "link", 0751, AT_SYMLINK_NOFOLLOW), EOPNOTSUPP,
            "fchmodat2 of a link itself");
    works(fstat(fd, &facts), "fstat");
    want((facts.st_mode & 07777) == 0600, "mode %o", facts.st_mode & 07777);
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_fchmodat2, AT_FDCWD, "/", 0755, 1 << 30), EINVAL, "with 1 << 30");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_fchmodat2, -1, "file", 0600, 0), EBADF, "fchmodat2 beneath -1");
}

CHECKS
