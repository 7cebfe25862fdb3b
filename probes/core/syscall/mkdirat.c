/* mkdirat: a new directory beneath an open one. */
#define CAPABILITY "syscall_mkdirat"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(makes_a_directory_beneath_another) {
    struct stat facts;
    own_directory();
    int here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    works(syscall(SYS_mkdirat, here, "new", 0700), "mkdirat");
    works(fstatat(here, "new", &facts, 0), "fstatat");
    want(S_ISDIR(facts.st_mode) && (facts.st_mode & 0777) == 0700, "mode %o", facts.st_mode);
}

CHECK(refuses_a_name_that_is_taken) {
    own_directory();
    refuses(syscall(SYS_mkdirat, AT_FDCWD, ".", 0700), EEXIST, "mkdirat of .");
}

CHECK(refuses_to_work_beneath_a_file) {
    refuses(syscall(SYS_mkdirat, file_with("file", ""), "new", 0700), ENOTDIR, "in a file");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_mkdirat, -1, "new", 0700), EBADF, "mkdirat beneath -1");
}

CHECKS
