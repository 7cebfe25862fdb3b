/* epoll_create: a set of descriptors to wait on, of any size above 0. */
#define CAPABILITY "syscall_epoll_create"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_epoll_create
CHECK(makes_a_set_that_can_be_waited_on) {
    struct epoll_event event = {.events = EPOLLOUT, .data.u64 = 7}, got;
    int ends[2], set = (int)works(syscall(SYS_epoll_create, 1), "epoll_create");
    works(pipe(ends), "pipe");
    works(epoll_ctl(set, EPOLL_CTL_ADD, ends[1], &event), "epoll_ctl");
    want(works(epoll_wait(set, &got, 1, 0), "epoll_wait") == 1 && got.data.u64 == 7, "not ready");
}

CHECK(makes_one_that_stays_over_exec) {
    int set = (int)works(syscall(SYS_epoll_create, 1), "epoll_create");
    want(fcntl(set, F_GETFD) == 0, "closes on exec");
}

CHECK(refuses_a_size_of_0) {
    refuses(syscall(SYS_epoll_create, 0), EINVAL, "epoll_create of 0");
}

CHECK(refuses_a_negative_size) {
    refuses(syscall(SYS_epoll_create, -1), EINVAL, "epoll_create of -1");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no epoll_create");
}
#endif

CHECKS
