/* access: whether the caller may use a file. */
#define CAPABILITY "syscall_access"
#include "_runner_c.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_access

CHECK(says_yes_to_a_file_of_ones_own) {
    file_with("file", "");
    works(syscall(SYS_access, "file", R_OK | W_OK), "access");
}

CHECK(says_no_to_running_what_is_no_program) {
    file_with("file", "");
    refuses(syscall(SYS_access, "file", X_OK), EACCES, "access for running");
    works(chmod("file", 0700), "chmod");
    works(syscall(SYS_access, "file", X_OK), "access for running");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_access, "nothing", F_OK), ENOENT, "access to nothing");
}

CHECK(refuses_an_unknown_wish) {
    refuses(syscall(SYS_access, "/", 64), EINVAL, "access for 64");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no access");
}

#endif

CHECKS
