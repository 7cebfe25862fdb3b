/* swapon: asked to swap to files that can't be. */
#define CAPABILITY "syscall_swapon"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

CHECK(refuses_a_file_that_is_not_there) {
    refuses(syscall(SYS_swapon, "/nonexistent/swap", 0), ENOENT, "no such file");
}

CHECK(refuses_a_directory) {
    refuses(syscall(SYS_swapon, "/", 0), EISDIR, "/");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_swapon, "/nonexistent/swap", 0x4000000), EINVAL, "flag 0x4000000");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_swapon, (void *)8, 0), EFAULT, "a path at 8");
}

CHECKS
