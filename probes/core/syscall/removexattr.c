/* removexattr: an attribute of a file, removed by path. */
#define CAPABILITY "syscall_removexattr"
#include "_runner_c.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

CHECK(removes_an_attribute) {
    char value[16];
    file_with("file", "");
    works_if_offered(setxattr("file", "user.pane", "glass", 5, 0), EOPNOTSUPP, "setxattr");
    works(syscall(SYS_removexattr, "file", "user.pane"), "removexattr");
    refuses(getxattr("file", "user.pane", value, 16), ENODATA, "the attribute");
    refuses(syscall(SYS_removexattr, "file", "user.pane"), ENODATA, "removexattr again");
}

CHECK(refuses_a_name_without_a_kind) {
    file_with("file", "");
    refuses(syscall(SYS_removexattr, "file", "pane"), EOPNOTSUPP, "removexattr of pane");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_removexattr, "nothing", "user.pane"), ENOENT, "removexattr of nothing");
}

CHECKS
