/* uselib: libraries of an ancient format; asked for one that is not there. */
#define CAPABILITY "syscall_uselib"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_uselib
CHECK(refuses_a_library_that_is_not_there) {
    refuses(syscall(SYS_uselib, "/nonexistent/library"), ENOENT, "no such file");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_uselib, (void *)8), EFAULT, "a path at 8");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no uselib");
}
#endif

CHECKS
