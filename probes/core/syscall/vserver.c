/* vserver: a number kept for a patch of the kernel. */
#define CAPABILITY "syscall_vserver"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_vserver
CHECK(does_something) {
    works(syscall(SYS_vserver, 0, 0, NULL), "vserver");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no vserver");
}
#endif

CHECKS
