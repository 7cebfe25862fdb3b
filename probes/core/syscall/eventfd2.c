/* eventfd2: a counter and a semaphore, read, added to and waited on. */
#define CAPABILITY "syscall_eventfd2"
#include "_runner_c.h"

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t count, one = 1, most = UINT64_MAX - 1;

static int make(unsigned start, int flags) {
    return (int)works(syscall(SYS_eventfd2, start, flags), "eventfd2");
}

CHECK(counts_and_is_emptied_by_reading) {
    int fd = make(4, EFD_NONBLOCK);
    works(write(fd, &one, 8), "write");
    want(works(read(fd, &count, 8), "read") == 8 && count == 5, "4 and 1 are not 5");
    refuses(read(fd, &count, 8), EAGAIN, "read when empty");
}

CHECK(gives_one_at_a_time_as_a_semaphore) {
    int fd = make(2, EFD_SEMAPHORE | EFD_NONBLOCK);
    for (int i = 0; i < 2; i++)
        want(works(read(fd, &count, 8), "read") == 8 && count == 1, "not 1");
    refuses(read(fd, &count, 8), EAGAIN, "a third read");
}

CHECK(sets_the_flags_asked_for) {
    int fd = make(0, EFD_CLOEXEC | EFD_NONBLOCK);
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC && fcntl(fd, F_GETFL) & O_NONBLOCK, "not set");
}

CHECK(can_be_waited_on) {
    struct pollfd counter = {.fd = make(0, 0), .events = POLLIN | POLLOUT};
    want(poll(&counter, 1, 0) == 1 && counter.revents == POLLOUT, "0 is not only for writing");
    works(write(counter.fd, &most, 8), "write");
    want(poll(&counter, 1, 0) == 1 && counter.revents == POLLIN, "full is not only for reading");
}

CHECK(wakes_a_reader_in_another_process) {
    int fd = make(0, 0);
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        usleep(50000);
        _exit(write(fd, &one, 8) != 8);
    }
    want(works(read(fd, &count, 8), "read") == 8 && count == 1, "not 1");
    waitpid(child, NULL, 0);
}

CHECK(holds_no_more_than_it_can) {
    int fd = make(0, EFD_NONBLOCK);
    works(write(fd, &most, 8), "write of the most");
    refuses(write(fd, &one, 8), EAGAIN, "write of one more");
}

CHECK(refuses_a_number_that_is_none) {
    uint64_t all = UINT64_MAX;
    refuses(write(make(0, 0), &all, 8), EINVAL, "write of 2^64-1");
}

CHECK(refuses_less_than_8_bytes) {
    int fd = make(1, 0);
    refuses(read(fd, &count, 4), EINVAL, "read of 4 bytes");
    refuses(write(fd, &one, 4), EINVAL, "write of 4 bytes");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_eventfd2, 0, 2), EINVAL, "eventfd2 with flag 2");
}

CHECK(refuses_more_than_may_be_open) {
    struct rlimit few = {0, 0};
    works(setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
    refuses(syscall(SYS_eventfd2, 0, 0), EMFILE, "eventfd2 where none may be open");
}

CHECKS
