/* timerfd_create: timers of several clocks that can be waited on. */
#define CAPABILITY "syscall_timerfd_create"
#include "_runner_c.h"

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static void tick(int clock) {
    struct itimerspec soon = {.it_value.tv_nsec = 1000000};
    uint64_t count = 0;
    int fd = (int)works(syscall(SYS_timerfd_create, clock, 0), "timerfd_create");
    works(timerfd_settime(fd, 0, &soon, NULL), "timerfd_settime");
    want(works(read(fd, &count, 8), "read") == 8 && count == 1, "not one tick");
}

CHECK(makes_a_timer_of_the_real_clock) {
    tick(CLOCK_REALTIME);
}

CHECK(makes_a_timer_of_the_monotonic_clock) {
    tick(CLOCK_MONOTONIC);
}

CHECK(makes_a_timer_of_the_boot_clock) {
    tick(CLOCK_BOOTTIME);
}

CHECK(makes_one_that_is_not_running) {
    int fd = (int)works(syscall(SYS_timerfd_create, CLOCK_MONOTONIC, TFD_NONBLOCK), "create");
    struct pollfd timer = {.fd = fd, .events = POLLIN};
    uint64_t count;
    want(poll(&timer, 1, 0) == 0, "it ticked");
    refuses(read(fd, &count, 8), EAGAIN, "read");
}

CHECK(sets_the_flags_asked_for) {
    int flags = TFD_CLOEXEC | TFD_NONBLOCK;
    int fd = (int)works(syscall(SYS_timerfd_create, CLOCK_MONOTONIC, flags), "timerfd_create");
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC && fcntl(fd, F_GETFL) & O_NONBLOCK, "not set");
}

CHECK(refuses_less_than_8_bytes) {
    uint64_t count;
    int fd = (int)works(syscall(SYS_timerfd_create, CLOCK_MONOTONIC, 0), "timerfd_create");
    refuses(read(fd, &count, 4), EINVAL, "read of 4 bytes");
}

CHECK(refuses_writing) {
    int fd = (int)works(syscall(SYS_timerfd_create, CLOCK_MONOTONIC, 0), "timerfd_create");
    refuses(write(fd, "12345678", 8), EINVAL, "write");
}

CHECK(refuses_clocks_of_processor_time) {
    refuses(syscall(SYS_timerfd_create, CLOCK_PROCESS_CPUTIME_ID, 0), EINVAL, "of processor time");
}

CHECK(refuses_unknown_clocks_and_flags) {
    refuses(syscall(SYS_timerfd_create, 99, 0), EINVAL, "clock 99");
    refuses(syscall(SYS_timerfd_create, CLOCK_MONOTONIC, 2), EINVAL, "flag 2");
}

CHECK(refuses_more_than_may_be_open) {
    struct rlimit few = {0, 0};
    works(setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
    refuses(syscall(SYS_timerfd_create, CLOCK_MONOTONIC, 0), EMFILE, "where none may be open");
}

CHECKS
