/* close_range: the end of many descriptors. */
#define CAPABILITY "syscall_close_range"
#include "_runner_c.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNSHARE 2
#define CLOEXEC 4

static unsigned first, last;

/* Three copies of 0, with numbers in a row. */
static void make(void) {
    first = (unsigned)works(fcntl(0, F_DUPFD, 100), "fcntl");
    works(fcntl(0, F_DUPFD, 100), "fcntl");
    last = (unsigned)works(fcntl(0, F_DUPFD, 100), "fcntl");
}

CHECK(closes_all_in_the_range) {
    make();
    int beyond = (int)works(fcntl(0, F_DUPFD, 200), "fcntl");
    works(syscall(SYS_close_range, first, last, 0), "close_range");
    for (unsigned fd = first; fd <= last; fd++)
        refuses(fcntl((int)fd, F_GETFD), EBADF, "what was closed");
    works(fcntl(beyond, F_GETFD), "what is beyond");
}

CHECK(closes_all_above) {
    make();
    works(syscall(SYS_close_range, first, ~0U, 0), "close_range");
    refuses(fcntl((int)last, F_GETFD), EBADF, "what was closed");
}

CHECK(marks_for_closing_if_asked) {
    make();
    works(syscall(SYS_close_range, first, last, CLOEXEC), "close_range");
    want(fcntl((int)first, F_GETFD) == FD_CLOEXEC, "not marked");
}

CHECK(passes_over_what_is_closed) {
    make();
    close((int)first);
    works(syscall(SYS_close_range, first, last, UNSHARE), "close_range");
    refuses(fcntl((int)last, F_GETFD), EBADF, "what was closed");
}

CHECK(refuses_a_range_that_ends_before_it_begins) {
    refuses(syscall(SYS_close_range, 200, 100, 0), EINVAL, "close_range of 200 to 100");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_close_range, 200, 200, 1 << 20), EINVAL, "close_range with 1 << 20");
}

CHECKS
