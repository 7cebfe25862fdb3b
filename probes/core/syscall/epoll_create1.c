/* epoll_create1: a set of descriptors to wait on, with a flag. */
#define CAPABILITY "syscall_epoll_create1"
#include "_runner_c.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(makes_a_set_that_can_be_waited_on) {
    struct epoll_event event = {.events = EPOLLOUT, .data.u64 = 7}, got;
    int ends[2], set = (int)works(syscall(SYS_epoll_create1, 0), "epoll_create1");
    works(pipe(ends), "pipe");
    works(epoll_ctl(set, EPOLL_CTL_ADD, ends[1], &event), "epoll_ctl");
    want(works(epoll_wait(set, &got, 1, 0), "epoll_wait") == 1 && got.data.u64 == 7, "not ready");
}

CHECK(closes_on_exec_if_asked) {
    int plain = (int)works(syscall(SYS_epoll_create1, 0), "epoll_create1");
    int closing = (int)works(syscall(SYS_epoll_create1, EPOLL_CLOEXEC), "epoll_create1");
    want(fcntl(plain, F_GETFD) == 0 && fcntl(closing, F_GETFD) == FD_CLOEXEC, "wrong flags");
}

CHECK(makes_a_set_that_is_ready_when_its_members_are) {
    struct epoll_event event = {.events = EPOLLIN};
    int ends[2], set = (int)works(syscall(SYS_epoll_create1, 0), "epoll_create1");
    struct pollfd nested = {.fd = set, .events = POLLIN};
    works(pipe(ends), "pipe");
    works(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event), "epoll_ctl");
    want(poll(&nested, 1, 0) == 0, "ready too early");
    works(write(ends[1], "x", 1), "write");
    want(poll(&nested, 1, 0) == 1 && nested.revents == POLLIN, "not ready");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_epoll_create1, 1), EINVAL, "epoll_create1 with flag 1");
}

CHECK(refuses_more_than_may_be_open) {
    struct rlimit few = {0, 0};
    works(setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
    refuses(syscall(SYS_epoll_create1, 0), EMFILE, "epoll_create1 where none may be open");
}

CHECKS
