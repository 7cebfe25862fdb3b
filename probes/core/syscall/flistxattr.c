/* flistxattr: the attributes of an open file. */
#define CAPABILITY "syscall_flistxattr"
#include "_runner_c.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static char names[256];

CHECK(lists_the_names) {
    int fd = file_with("file", "");
    works_if_offered(setxattr("file", "user.one", "1", 1, 0), EOPNOTSUPP, "setxattr");
    long size = works(syscall(SYS_flistxattr, fd, names, sizeof names), "flistxattr");
    want(memmem(names, (size_t)size, "user.one", 9) != NULL, "the name is missing");
    refuses(syscall(SYS_flistxattr, fd, names, 4), ERANGE, "flistxattr in 4 bytes");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_flistxattr, -1, names, sizeof names), EBADF, "flistxattr of -1");
}

CHECKS
