/* afs_syscall: a number kept for a file system, which never used it in Linux. */
#define CAPABILITY "syscall_afs_syscall"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_afs_syscall
CHECK(does_something) {
    works(syscall(SYS_afs_syscall, 0, 0, 0, 0, 0), "afs_syscall");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no afs_syscall");
}
#endif

CHECKS
