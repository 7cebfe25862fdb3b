/* process_madvise: advice on the memory of a process, by its descriptor. */
#define CAPABILITY "syscall_process_madvise"
#include "_runner_c.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif
#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static struct iovec range;

static int self(void) {
    return (int)works(syscall(SYS_pidfd_open, getpid(), 0), "pidfd_open");
}

static char *page(void) {
    char *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        blocked("mmap");
    *at = 7;
    range = (struct iovec){at, PAGE};
    return at;
}

CHECK(reports_how_much_it_advised_and_loses_nothing) {
    char *at = page();
    int fd = self();
    size_t done = (size_t)works(syscall(SYS_process_madvise, fd, &range, 1, MADV_COLD, 0), "cold");
    want(done == PAGE && *at == 7, "%zu bytes", done);
    works(syscall(SYS_process_madvise, fd, &range, 1, MADV_PAGEOUT, 0), "page out");
    want(*at == 7, "the byte is lost");
}

CHECK(empties_its_own_memory) {
    char *at = page();
    long done = syscall(SYS_process_madvise, self(), &range, 1, MADV_DONTNEED, 0);
    if (done < 0 && errno == EINVAL)
        unavailable("before Linux 6.13 it can't");
    works(done, "process_madvise");
    want(*at == 0, "the byte is still there");
}

CHECK(refuses_advice_that_is_none) {
    page();
    refuses(syscall(SYS_process_madvise, self(), &range, 1, 9999, 0), EINVAL, "advice 9999");
}

CHECK(refuses_unknown_flags) {
    page();
    refuses(syscall(SYS_process_madvise, self(), &range, 1, MADV_COLD, 1), EINVAL, "flag 1");
}

CHECK(refuses_what_is_no_process) {
    int ends[2];
    page();
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_process_madvise, -1, &range, 1, MADV_COLD, 0), EBADF, "-1");
    refuses(syscall(SYS_process_madvise, ends[0], &range, 1, MADV_COLD, 0), EBADF, "a pipe");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_process_madvise, self(), (void *)8, 1, MADV_COLD, 0), EFAULT, "at 8");
}

CHECKS
