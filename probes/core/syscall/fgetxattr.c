/* fgetxattr: an attribute of an open file, read. */
#define CAPABILITY "syscall_fgetxattr"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static char value[16];

CHECK(reads_an_attribute) {
    int fd = file_with("file", "");
    works_if_offered(setxattr("file", "user.pane", "glass", 5, 0), EOPNOTSUPP, "setxattr");
    want(works(syscall(SYS_fgetxattr, fd, "user.pane", value, 16), "fgetxattr") == 5, "not five");
    want(memcmp(value, "glass", 5) == 0, "another value");
    refuses(syscall(SYS_fgetxattr, fd, "user.none", value, 16), ENODATA, "fgetxattr of none");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_fgetxattr, -1, "user.pane", value, 16), EBADF, "fgetxattr of -1");
}

CHECKS
