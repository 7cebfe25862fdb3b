/* fremovexattr: an attribute of an open file, removed. */
#define CAPABILITY "syscall_fremovexattr"
#include "_runner_c.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

CHECK(removes_an_attribute) {
    char value[16];
    int fd = file_with("file", "");
    works_if_offered(setxattr("file", "user.pane", "glass", 5, 0), EOPNOTSUPP, "setxattr");
    works(syscall(SYS_fremovexattr, fd, "user.pane"), "fremovexattr");
    refuses(getxattr("file", "user.pane", value, 16), ENODATA, "the attribute");
    refuses(syscall(SYS_fremovexattr, fd, "user.pane"), ENODATA, "fremovexattr again");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_fremovexattr, -1, "user.pane"), EBADF, "fremovexattr of -1");
}

CHECKS
