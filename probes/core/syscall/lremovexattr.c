/* lremovexattr: an attribute of a file or link itself, removed. */
#define CAPABILITY "syscall_lremovexattr"
#include "_runner_c.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

CHECK(removes_an_attribute) {
    char value[16];
    file_with("file", "");
    works_if_offered(setxattr("file", "user.pane", "glass", 5, 0), EOPNOTSUPP, "setxattr");
    works(syscall(SYS_lremovexattr, "file", "user.pane"), "lremovexattr");
    refuses(getxattr("file", "user.pane", value, 16), ENODATA, "the attribute");
}

CHECK(refuses_a_link_itself) {
    file_with("file", "");
    works(symlink("file", "link"), "symlink");
    refuses(syscall(SYS_lremovexattr, "link", "user.pane"), EPERM, "lremovexattr of a link");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_lremovexattr, "nothing", "user.pane"), ENOENT, "of nothing");
}

CHECKS
