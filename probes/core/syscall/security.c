/* security: a number kept for security modules, which never used it. */
#define CAPABILITY "syscall_security"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_security
CHECK(does_something) {
    works(syscall(SYS_security, 0, 0, 0), "security");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no security");
}
#endif

CHECKS
