/* llistxattr: the attributes of a file or link itself. */
#define CAPABILITY "syscall_llistxattr"
#include "_runner_c.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static char names[256];

CHECK(lists_names_and_follows_no_link) {
    file_with("file", "");
    works(symlink("file", "link"), "symlink");
    works_if_offered(setxattr("file", "user.one", "1", 1, 0), EOPNOTSUPP, "setxattr");
    long size = works(syscall(SYS_llistxattr, "file", names, sizeof names), "llistxattr");
    want(memmem(names, (size_t)size, "user.one", 9) != NULL, "the name is missing");
    size = works(syscall(SYS_llistxattr, "link", names, sizeof names), "llistxattr");
    want(memmem(names, (size_t)size, "user.one", 9) == NULL, "the link was followed");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_llistxattr, "nothing", names, sizeof names), ENOENT, "of nothing");
}

CHECKS
