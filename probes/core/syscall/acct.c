/* acct: asked to keep accounts in files that can't be. */
#define CAPABILITY "syscall_acct"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

CHECK(refuses_a_file_that_is_not_there) {
    refuses(syscall(SYS_acct, "/nonexistent/accounts"), ENOENT, "no such file");
}

CHECK(refuses_a_directory) {
    refuses(syscall(SYS_acct, "/"), EISDIR, "/");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_acct, (void *)8), EFAULT, "a path at 8");
}

CHECKS
