/* unlinkat: a name beneath an open directory, removed. */
#define CAPABILITY "syscall_unlinkat"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(removes_a_name) {
    file_with("file", "");
    int here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    works(syscall(SYS_unlinkat, here, "file", 0), "unlinkat");
    refuses(faccessat(here, "file", F_OK, 0), ENOENT, "the name");
}

CHECK(removes_a_directory_if_asked) {
    own_directory();
    works(mkdir("directory", 0700), "mkdir");
    refuses(syscall(SYS_unlinkat, AT_FDCWD, "directory", 0), EISDIR, "unlinkat");
    works(syscall(SYS_unlinkat, AT_FDCWD, "directory", AT_REMOVEDIR), "unlinkat");
    refuses(access("directory", F_OK), ENOENT, "the name");
}

CHECK(refuses_unknown_flags) {
    file_with("file", "");
    refuses(syscall(SYS_unlinkat, AT_FDCWD, "file", 1 << 30), EINVAL, "unlinkat");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_unlinkat, AT_FDCWD, "nothing", 0), ENOENT, "unlinkat of nothing");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_unlinkat, -1, "file", 0), EBADF, "unlinkat beneath -1");
}

CHECKS
