/* lsetxattr: an attribute of a file or link itself, set. */
#define CAPABILITY "syscall_lsetxattr"
#include "_runner_c.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

CHECK(sets_an_attribute) {
    char value[16];
    file_with("file", "");
    works_if_offered(syscall(SYS_lsetxattr, "file", "user.pane", "glass", 5, 0), EOPNOTSUPP, "it");
    want(getxattr("file", "user.pane", value, 16) == 5 && !memcmp(value, "glass", 5), "another");
}

CHECK(refuses_a_link_itself) {
    file_with("file", "");
    works(symlink("file", "link"), "symlink");
    refuses(syscall(SYS_lsetxattr, "link", "user.pane", "x", 1, 0), EPERM, "lsetxattr of a link");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_lsetxattr, "nothing", "user.pane", "x", 1, 0), ENOENT, "of nothing");
}

CHECKS
