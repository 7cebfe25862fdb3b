/* removexattrat: an attribute of a file beneath an open directory, removed. */
#define CAPABILITY "syscall_removexattrat"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef SYS_removexattrat
#define SYS_removexattrat 466
#endif

CHECK(removes_an_attribute) {
    char value[16];
    int fd = file_with("file", "");
    works_if_offered(fsetxattr(fd, "user.pane", "glass", 5, 0), EOPNOTSUPP, "fsetxattr");
    int here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    works(syscall(SYS_removexattrat, here, "file", 0, "user.pane"), "removexattrat");
    refuses(fgetxattr(fd, "user.pane", value, 16), ENODATA, "the attribute");
    refuses(syscall(SYS_removexattrat, here, "file", 0, "user.pane"), ENODATA, "again");
}

CHECK(refuses_unknown_flags) {
    file_with("file", "");
    refuses(syscall(SYS_removexattrat, AT_FDCWD, "file", 1 << 30, "user.pane"), EINVAL, "1 << 30");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_removexattrat, -1, "file", 0, "user.pane"), EBADF, "beneath -1");
}

CHECKS
