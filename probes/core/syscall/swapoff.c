/* swapoff: asked to stop swapping to what is no swap space. */
#define CAPABILITY "syscall_swapoff"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

CHECK(refuses_a_file_that_is_not_there) {
    refuses(syscall(SYS_swapoff, "/nonexistent/swap"), ENOENT, "no such file");
}

CHECK(refuses_what_is_no_swap_space) {
    refuses(syscall(SYS_swapoff, "/etc/passwd"), EINVAL, "/etc/passwd");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_swapoff, (void *)8), EFAULT, "a path at 8");
}

CHECKS
