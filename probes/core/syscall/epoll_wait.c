/* epoll_wait: what is ready, in turn, after a wait or not at all. */
#define CAPABILITY "syscall_epoll_wait"
#include "_runner_c.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef SYS_epoll_wait
static struct epoll_event got[8];

static void nothing(int number) {
    (void)number;
}

static int watch(int fd, unsigned events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    int set = (int)works(epoll_create1(0), "epoll_create1");
    works(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
    return set;
}

CHECK(reports_what_is_ready) {
    int fd = (int)works(eventfd(1, 0), "eventfd"), set = watch(fd, EPOLLIN | EPOLLOUT);
    want(works(syscall(SYS_epoll_wait, set, got, 8, 0), "epoll_wait") == 1, "not one");
    want(got[0].events == (EPOLLIN | EPOLLOUT) && got[0].data.fd == fd, "another event");
}

CHECK(gives_0_when_the_time_is_up) {
    int set = watch((int)works(eventfd(0, 0), "eventfd"), EPOLLIN);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    want(works(syscall(SYS_epoll_wait, set, got, 8, 20), "epoll_wait") == 0, "something is ready");
    clock_gettime(CLOCK_MONOTONIC, &after);
    long ms = (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
    want(ms >= 19, "woke after %ld of 20 ms", ms);
}

CHECK(reports_again_while_it_is_ready) {
    int set = watch((int)works(eventfd(1, 0), "eventfd"), EPOLLIN);
    for (int i = 0; i < 3; i++)
        want(syscall(SYS_epoll_wait, set, got, 8, 0) == 1, "no event in round %d", i);
}

CHECK(gives_no_more_than_there_is_room_for_and_all_in_turn) {
    int set = (int)works(epoll_create1(0), "epoll_create1"), seen = 0;
    for (int i = 0; i < 4; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = 1u << i};
        works(epoll_ctl(set, EPOLL_CTL_ADD, eventfd(1, 0), &event), "epoll_ctl");
    }
    for (int i = 0; i < 2; i++) {
        want(works(syscall(SYS_epoll_wait, set, got, 2, 0), "epoll_wait") == 2, "not two");
        seen |= (int)(got[0].data.u32 | got[1].data.u32);
    }
    want(seen == 15, "some of the four events are missing: %#x", (unsigned)seen);
}

CHECK(reports_a_closed_peer_unasked) {
    int ends[2];
    works(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    int set = watch(ends[0], EPOLLRDHUP);
    close(ends[1]);
    want(syscall(SYS_epoll_wait, set, got, 8, 0) == 1, "no event");
    want(got[0].events == (EPOLLHUP | EPOLLRDHUP), "events %#x", got[0].events);
}

CHECK(waits_until_something_comes) {
    int fd = (int)works(eventfd(0, 0), "eventfd"), set = watch(fd, EPOLLIN);
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        usleep(50000);
        _exit(eventfd_write(fd, 1));
    }
    want(works(syscall(SYS_epoll_wait, set, got, 8, 3000), "epoll_wait") == 1, "nothing came");
    waitpid(child, NULL, 0);
}

CHECK(is_ended_by_a_signal) {
    struct itimerval often = {.it_interval.tv_usec = 20000, .it_value.tv_usec = 20000};
    int set = watch((int)works(eventfd(0, 0), "eventfd"), EPOLLIN);
    signal(SIGALRM, nothing);
    works(setitimer(ITIMER_REAL, &often, NULL), "setitimer");
    refuses(syscall(SYS_epoll_wait, set, got, 8, 3000), EINTR, "epoll_wait under an alarm");
}

CHECK(refuses_no_room) {
    int set = watch((int)works(eventfd(1, 0), "eventfd"), EPOLLIN);
    refuses(syscall(SYS_epoll_wait, set, got, 0, 0), EINVAL, "epoll_wait for 0");
    refuses(syscall(SYS_epoll_wait, set, got, -1, 0), EINVAL, "epoll_wait for -1");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_epoll_wait, -1, got, 8, 0), EBADF, "epoll_wait on -1");
}

CHECK(refuses_what_is_no_set) {
    refuses(syscall(SYS_epoll_wait, eventfd(0, 0), got, 8, 0), EINVAL, "epoll_wait on an eventfd");
}

CHECK(refuses_a_bad_address) {
    int set = watch((int)works(eventfd(1, 0), "eventfd"), EPOLLIN);
    refuses(syscall(SYS_epoll_wait, set, (void *)8, 8, 0), EFAULT, "epoll_wait, events at 8");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no epoll_wait");
}
#endif

CHECKS
