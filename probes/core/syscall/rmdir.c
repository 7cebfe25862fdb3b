/* rmdir: an empty directory, removed. */
#define CAPABILITY "syscall_rmdir"
#include "_runner_c.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_rmdir

CHECK(removes_an_empty_directory) {
    own_directory();
    works(mkdir("old", 0700), "mkdir");
    works(syscall(SYS_rmdir, "old"), "rmdir");
    refuses(access("old", F_OK), ENOENT, "the name");
}

CHECK(refuses_a_full_directory) {
    own_directory();
    works(mkdir("old", 0700), "mkdir");
    works(mkdir("old/inside", 0700), "mkdir");
    refuses(syscall(SYS_rmdir, "old"), ENOTEMPTY, "rmdir");
}

CHECK(refuses_a_file) {
    file_with("file", "");
    refuses(syscall(SYS_rmdir, "file"), ENOTDIR, "rmdir of a file");
}

CHECK(refuses_where_it_is) {
    own_directory();
    refuses(syscall(SYS_rmdir, "."), EINVAL, "rmdir of .");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_rmdir, "nothing"), ENOENT, "rmdir of nothing");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no rmdir");
}

#endif

CHECKS
