/* dup: a copy of a descriptor. */
#define CAPABILITY "syscall_dup"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(shares_the_position) {
    int fd = file_with("file", "glass");
    int copy = (int)works(syscall(SYS_dup, fd), "dup");
    works(lseek(copy, 3, SEEK_SET), "lseek");
    want(copy != fd && lseek(fd, 0, SEEK_CUR) == 3, "the position is another");
}

CHECK(shares_no_mark_for_closing) {
    int fd = (int)works(open("/", O_RDONLY | O_CLOEXEC), "open");
    want(fcntl((int)works(syscall(SYS_dup, fd), "dup"), F_GETFD) == 0, "it is marked");
}

CHECK(takes_the_lowest_free_number) {
    int low = (int)works(syscall(SYS_dup, 0), "dup"), high = (int)works(syscall(SYS_dup, 0), "dup");
    close(low);
    want(syscall(SYS_dup, high) == low, "not the lowest");
}

CHECK(refuses_more_than_the_limit_of_descriptors) {
    int next = (int)works(dup(0), "dup");
    struct rlimit limit = {(rlim_t)next, (rlim_t)next};
    close(next);
    works(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
    refuses(syscall(SYS_dup, 0), EMFILE, "dup at the limit");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_dup, -1), EBADF, "dup of -1");
}

CHECKS
