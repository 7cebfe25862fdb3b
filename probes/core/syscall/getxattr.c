/* getxattr: an attribute of a file, read by path. */
#define CAPABILITY "syscall_getxattr"
#include "_runner_c.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static char value[16];

/* A file with an attribute; that needs a file system that keeps them. */
static void make(void) {
    file_with("file", "");
    works_if_offered(setxattr("file", "user.pane", "glass", 5, 0), EOPNOTSUPP, "setxattr");
}

CHECK(reads_an_attribute) {
    make();
    want(works(syscall(SYS_getxattr, "file", "user.pane", value, 16), "getxattr") == 5, "not five");
    want(memcmp(value, "glass", 5) == 0, "another value");
}

CHECK(reports_how_much_room_it_needs) {
    make();
    want(works(syscall(SYS_getxattr, "file", "user.pane", NULL, 0), "getxattr") == 5, "not five");
}

CHECK(follows_a_link) {
    make();
    works(symlink("file", "link"), "symlink");
    want(works(syscall(SYS_getxattr, "link", "user.pane", value, 16), "getxattr") == 5, "not five");
}

CHECK(refuses_too_little_room) {
    make();
    refuses(syscall(SYS_getxattr, "file", "user.pane", value, 4), ERANGE, "getxattr in 4 bytes");
}

CHECK(refuses_an_attribute_that_is_not_there) {
    make();
    refuses(syscall(SYS_getxattr, "file", "user.none", value, 16), ENODATA, "getxattr of none");
}

CHECK(refuses_an_empty_name) {
    make();
    refuses(syscall(SYS_getxattr, "file", "", value, 16), ERANGE, "getxattr of no name");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_getxattr, "nothing", "user.pane", value, 16), ENOENT, "of nothing");
}

CHECK(refuses_a_bad_address) {
    make();
    refuses(syscall(SYS_getxattr, "file", "user.pane", (void *)8, 16), EFAULT, "getxattr to 8");
}

CHECKS
