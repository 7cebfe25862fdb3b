/* tuxcall: a number kept for a web server in the kernel. */
#define CAPABILITY "syscall_tuxcall"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_tuxcall
CHECK(does_something) {
    works(syscall(SYS_tuxcall, 0, 0, 0), "tuxcall");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no tuxcall");
}
#endif

CHECKS
