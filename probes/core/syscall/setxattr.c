/* setxattr: an attribute of a file, set by path. */
#define CAPABILITY "syscall_setxattr"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static char value[16];

/* Attributes of users' own need a file system that keeps them. */
static long set(const char *path, const char *name, const char *text, int flags) {
    long result = syscall(SYS_setxattr, path, name, text, strlen(text), flags);
    if (result == -1 && errno == EOPNOTSUPP)
        unavailable("this file system keeps no attributes");
    return result;
}

CHECK(sets_an_attribute) {
    file_with("file", "");
    works(set("file", "user.pane", "glass", 0), "setxattr");
    want(getxattr("file", "user.pane", value, 16) == 5 && !memcmp(value, "glass", 5), "another");
}

CHECK(replaces_an_attribute) {
    file_with("file", "");
    works(set("file", "user.pane", "glass", 0), "setxattr");
    works(set("file", "user.pane", "ice", 0), "setxattr");
    want(getxattr("file", "user.pane", value, 16) == 3 && !memcmp(value, "ice", 3), "another");
}

CHECK(takes_an_empty_value) {
    file_with("file", "");
    works(set("file", "user.pane", "", 0), "setxattr");
    want(getxattr("file", "user.pane", value, 16) == 0, "it is not empty");
}

CHECK(takes_a_directory) {
    own_directory();
    works(set(".", "user.pane", "glass", 0), "setxattr");
    want(getxattr(".", "user.pane", value, 16) == 5, "it was not set");
}

CHECK(follows_a_link) {
    file_with("file", "");
    works(symlink("file", "link"), "symlink");
    works(set("link", "user.pane", "glass", 0), "setxattr");
    want(getxattr("file", "user.pane", value, 16) == 5, "it was not set");
}

CHECK(refuses_to_make_what_is_there_if_asked) {
    file_with("file", "");
    works(set("file", "user.pane", "glass", XATTR_CREATE), "setxattr");
    refuses(set("file", "user.pane", "ice", XATTR_CREATE), EEXIST, "setxattr with XATTR_CREATE");
}

CHECK(refuses_to_replace_what_is_not_there_if_asked) {
    file_with("file", "");
    refuses(set("file", "user.pane", "x", XATTR_REPLACE), ENODATA, "setxattr with XATTR_REPLACE");
}

CHECK(refuses_unknown_flags) {
    file_with("file", "");
    refuses(set("file", "user.pane", "x", 64), EINVAL, "setxattr with 64");
}

CHECK(refuses_a_name_without_a_kind) {
    file_with("file", "");
    long result = syscall(SYS_setxattr, "file", "pane", "x", 1, 0);
    refuses(result, EOPNOTSUPP, "setxattr of pane");
}

CHECK(refuses_a_name_too_long) {
    char name[300] = "user.";
    memset(name + 5, 'n', 251);
    file_with("file", "");
    refuses(set("file", name, "x", 0), ERANGE, "setxattr of a name of 256 bytes");
}

CHECK(refuses_a_value_too_long) {
    static char much[65537];
    file_with("file", "");
    refuses(syscall(SYS_setxattr, "file", "user.pane", much, sizeof much, 0), E2BIG, "setxattr");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(set("nothing", "user.pane", "x", 0), ENOENT, "setxattr of nothing");
}

CHECK(refuses_a_bad_address) {
    file_with("file", "");
    refuses(syscall(SYS_setxattr, "file", "user.pane", (void *)8, 4, 0), EFAULT, "from 8");
}

CHECKS
