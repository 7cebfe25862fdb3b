/* epoll_ctl_old: a number of an early epoll. */
#define CAPABILITY "syscall_epoll_ctl_old"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_epoll_ctl_old
CHECK(adds_a_descriptor) {
    works(syscall(SYS_epoll_ctl_old, -1, 1, 0, NULL), "epoll_ctl_old");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no epoll_ctl_old");
}
#endif

CHECKS
