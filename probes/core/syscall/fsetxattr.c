/* fsetxattr: an attribute of an open file, set. */
#define CAPABILITY "syscall_fsetxattr"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

CHECK(sets_an_attribute) {
    char value[16];
    int fd = file_with("file", "");
    works_if_offered(syscall(SYS_fsetxattr, fd, "user.pane", "glass", 5, 0), EOPNOTSUPP, "it");
    want(getxattr("file", "user.pane", value, 16) == 5 && !memcmp(value, "glass", 5), "another");
}

CHECK(refuses_unknown_flags) {
    int fd = file_with("file", "");
    refuses(syscall(SYS_fsetxattr, fd, "user.pane", "x", 1, 64), EINVAL, "fsetxattr with 64");
}

CHECK(refuses_a_place_without_a_file) {
    own_directory();
    int fd = (int)works(open(".", O_PATH), "open .");
    refuses(syscall(SYS_fsetxattr, fd, "user.pane", "x", 1, 0), EBADF, "of an O_PATH descriptor");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_fsetxattr, -1, "user.pane", "x", 1, 0), EBADF, "fsetxattr of -1");
}

CHECKS
