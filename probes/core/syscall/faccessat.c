/* faccessat: whether the caller may use a file beneath an open directory. */
#define CAPABILITY "syscall_faccessat"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(says_yes_to_a_file_of_ones_own) {
    file_with("file", "");
    int here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    works(syscall(SYS_faccessat, here, "file", R_OK | W_OK), "faccessat");
}

CHECK(says_no_to_running_what_is_no_program) {
    file_with("file", "");
    refuses(syscall(SYS_faccessat, AT_FDCWD, "file", X_OK), EACCES, "faccessat for running");
}

CHECK(refuses_an_unknown_wish) {
    refuses(syscall(SYS_faccessat, AT_FDCWD, "/", 64), EINVAL, "faccessat for 64");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_faccessat, -1, "file", F_OK), EBADF, "faccessat beneath -1");
}

CHECKS
