/* cachestat: how much of a file is in the page cache. */
#define CAPABILITY "syscall_cachestat"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

static struct {
    unsigned long long cached, dirty, being_written, evicted, recently_evicted;
} found;
static struct {
    unsigned long long from, size;
} range;

CHECK(counts_the_pages_of_a_file) {
    static char page[65536];
    long size = sysconf(_SC_PAGESIZE);
    int fd = file_with("file", "");
    works(write(fd, page, (size_t)size), "write");
    works(write(fd, page, (size_t)size), "write");
    works(syscall(SYS_cachestat, fd, &range, &found, 0), "cachestat");
    want(found.cached == 2, "%llu pages, not 2", found.cached);
}

CHECK(counts_only_in_the_range) {
    static char page[65536];
    long size = sysconf(_SC_PAGESIZE);
    int fd = file_with("file", "");
    works(write(fd, page, (size_t)size), "write");
    works(write(fd, page, (size_t)size), "write");
    range.size = 1;
    works(syscall(SYS_cachestat, fd, &range, &found, 0), "cachestat");
    want(found.cached == 1, "%llu pages, not 1", found.cached);
}

CHECK(refuses_flags) {
    refuses(syscall(SYS_cachestat, file_with("file", ""), &range, &found, 1), EINVAL, "with 1");
}

CHECK(refuses_a_bad_address) {
    int fd = file_with("file", "");
    refuses(syscall(SYS_cachestat, fd, (void *)8, &found, 0), EFAULT, "cachestat of 8");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_cachestat, -1, &range, &found, 0), EBADF, "cachestat of -1");
}

CHECKS
