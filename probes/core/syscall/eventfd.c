/* eventfd: a counter that is read, added to and waited on. */
#define CAPABILITY "syscall_eventfd"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_eventfd
CHECK(counts_from_where_it_was_asked) {
    uint64_t more = 3, count = 0;
    int fd = (int)works(syscall(SYS_eventfd, 4), "eventfd");
    works(write(fd, &more, sizeof more), "write");
    works(read(fd, &count, sizeof count), "read");
    want(count == 7, "4 and 3 are %lu", (unsigned long)count);
}

CHECK(has_no_flags) {
    int fd = (int)works(syscall(SYS_eventfd, 0), "eventfd");
    want(fcntl(fd, F_GETFD) == 0 && (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0, "it has some");
}

CHECK(refuses_more_than_may_be_open) {
    struct rlimit few = {0, 0};
    works(setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
    refuses(syscall(SYS_eventfd, 0), EMFILE, "eventfd where none may be open");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no eventfd");
}
#endif

CHECKS
