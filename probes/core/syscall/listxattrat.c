/* listxattrat: the attributes of a file beneath an open directory. */
#define CAPABILITY "syscall_listxattrat"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef SYS_listxattrat
#define SYS_listxattrat 465
#endif

static char names[256];

CHECK(lists_the_names) {
    file_with("file", "");
    works_if_offered(setxattr("file", "user.one", "1", 1, 0), EOPNOTSUPP, "setxattr");
    int here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    long size =
        works(syscall(SYS_listxattrat, here, "file", 0, names, sizeof names), "listxattrat");
    want(memmem(names, (size_t)size, "user.one", 9) != NULL, "the name is missing");
}

CHECK(refuses_unknown_flags) {
    file_with("file", "");
    refuses(syscall(SYS_listxattrat, AT_FDCWD, "file", 1 << 30, names, 256), EINVAL, "1 << 30");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_listxattrat, -1, "file", 0, names, 256), EBADF, "listxattrat beneath -1");
}

CHECKS
