/* epoll_wait_old: a number of an early epoll. */
#define CAPABILITY "syscall_epoll_wait_old"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_epoll_wait_old
CHECK(waits_for_a_descriptor) {
    works(syscall(SYS_epoll_wait_old, -1, NULL, 0, 0), "epoll_wait_old");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no epoll_wait_old");
}
#endif

CHECKS
