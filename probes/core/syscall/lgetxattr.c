/* lgetxattr: an attribute of a file or link itself, read. */
#define CAPABILITY "syscall_lgetxattr"
#include "_runner_c.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static char value[16];

CHECK(reads_an_attribute_and_follows_no_link) {
    file_with("file", "");
    works(symlink("file", "link"), "symlink");
    works_if_offered(setxattr("file", "user.pane", "glass", 5, 0), EOPNOTSUPP, "setxattr");
    want(works(syscall(SYS_lgetxattr, "file", "user.pane", value, 16), "it") == 5, "not five");
    want(memcmp(value, "glass", 5) == 0, "another value");
    refuses(syscall(SYS_lgetxattr, "link", "user.pane", value, 16), ENODATA, "of the link");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_lgetxattr, "nothing", "user.pane", value, 16), ENOENT, "of nothing");
}

CHECKS
