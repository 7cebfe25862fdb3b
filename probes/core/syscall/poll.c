/* poll: pipes and sockets that are ready, closed, bad, or only waited for. */
#define CAPABILITY "syscall_poll"
#include "_runner_c.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef SYS_poll
static void nothing(int number) {
    (void)number;
}

CHECK(reports_which_ends_of_a_pipe_are_ready) {
    int ends[2];
    works(pipe(ends), "pipe");
    struct pollfd both[2] = {{.fd = ends[0], .events = POLLIN}, {.fd = ends[1], .events = POLLOUT}};
    want(works(syscall(SYS_poll, both, 2, 0), "poll") == 1, "an empty pipe: not one ready");
    want(both[0].revents == 0 && both[1].revents == POLLOUT, "an empty pipe: the wrong end");
    works(write(ends[1], "x", 1), "write");
    want(syscall(SYS_poll, both, 2, 0) == 2 && both[0].revents == POLLIN, "the event was not reported");
}

CHECK(reports_a_full_pipe) {
    static char page[4096];
    int ends[2];
    works(pipe2(ends, O_NONBLOCK), "pipe2");
    for (int i = 0; i < 4096 && write(ends[1], page, sizeof page) > 0; i++)
        ;
    struct pollfd full = {.fd = ends[1], .events = POLLOUT};
    want(syscall(SYS_poll, &full, 1, 0) == 0, "a full pipe can be written");
}

CHECK(reports_that_the_other_end_is_gone) {
    int one[2], other[2];
    works(pipe(one), "pipe");
    works(pipe(other), "pipe");
    close(one[1]);
    close(other[0]);
    struct pollfd both[2] = {{.fd = one[0], .events = POLLIN}, {.fd = other[1], .events = POLLOUT}};
    want(works(syscall(SYS_poll, both, 2, 0), "poll") == 2, "not both");
    want(both[0].revents == POLLHUP, "no writer: %#x", (unsigned)both[0].revents);
    want(both[1].revents & POLLERR, "no reader: %#x", (unsigned)both[1].revents);
}

CHECK(reports_a_half_closed_socket) {
    int ends[2];
    works(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    works(shutdown(ends[1], SHUT_WR), "shutdown");
    struct pollfd one = {.fd = ends[0], .events = POLLIN | POLLRDHUP};
    want(syscall(SYS_poll, &one, 1, 0) == 1, "not ready");
    want(one.revents == (POLLIN | POLLRDHUP), "gave %#x", (unsigned)one.revents);
}

CHECK(marks_a_closed_descriptor) {
    struct pollfd closed = {.fd = 999, .events = POLLIN};
    want(works(syscall(SYS_poll, &closed, 1, 0), "poll") == 1, "not counted");
    want(closed.revents == POLLNVAL, "gave %#x", (unsigned)closed.revents);
}

CHECK(passes_over_negative_descriptors) {
    struct pollfd none = {.fd = -1, .events = POLLIN, .revents = POLLIN};
    want(works(syscall(SYS_poll, &none, 1, 0), "poll") == 0, "counted");
    want(none.revents == 0, "gave %#x", (unsigned)none.revents);
}

CHECK(takes_files_as_always_ready) {
    int fd = (int)works(memfd_create("poll", 0), "memfd_create");
    struct pollfd file = {.fd = fd, .events = POLLIN | POLLOUT};
    want(syscall(SYS_poll, &file, 1, 0) == 1 && file.revents == (POLLIN | POLLOUT), "not ready");
}

CHECK(waits_until_something_comes) {
    int ends[2];
    works(pipe(ends), "pipe");
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        usleep(50000);
        _exit(write(ends[1], "x", 1) != 1);
    }
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    want(works(syscall(SYS_poll, &one, 1, 3000), "poll") == 1, "nothing came");
    waitpid(child, NULL, 0);
}

CHECK(sleeps_with_nothing_to_wait_for) {
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    want(works(syscall(SYS_poll, NULL, 0, 20), "poll") == 0, "something was ready");
    clock_gettime(CLOCK_MONOTONIC, &after);
    long ms = (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
    want(ms >= 19, "woke after %ld of 20 ms", ms);
}

CHECK(is_ended_by_a_signal) {
    struct itimerval often = {.it_interval.tv_usec = 20000, .it_value.tv_usec = 20000};
    signal(SIGALRM, nothing);
    works(setitimer(ITIMER_REAL, &often, NULL), "setitimer");
    refuses(syscall(SYS_poll, NULL, 0, 3000), EINTR, "poll under an alarm");
}

CHECK(refuses_more_than_may_be_open) {
    static struct pollfd many[9];
    struct rlimit few = {8, 8};
    works(setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
    refuses(syscall(SYS_poll, many, 9, 0), EINVAL, "poll of 9 where 8 may be open");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_poll, (void *)8, 1, 0), EFAULT, "poll at address 8");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no poll");
}
#endif

CHECKS
