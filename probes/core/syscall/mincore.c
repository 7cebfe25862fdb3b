/* mincore: which pages are in memory. */
#define CAPABILITY "syscall_mincore"
#include "_runner_c.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static unsigned char in[4];

static char *pages(size_t count) {
    char *at =
        mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        blocked("mmap");
    return at;
}

CHECK(reports_a_page_that_was_touched) {
    char *at = pages(1);
    *at = 1;
    works(syscall(SYS_mincore, at, PAGE, in), "mincore");
    want(in[0] & 1, "not in memory");
}

CHECK(reports_a_page_that_was_not_touched) {
    char *at = pages(1);
    works(syscall(SYS_mincore, at, PAGE, in), "mincore");
    want((in[0] & 1) == 0, "in memory");
}

CHECK(reports_each_page_of_several) {
    char *at = pages(3);
    at[PAGE] = 1;
    works(syscall(SYS_mincore, at, 2 * PAGE + 1, in), "mincore");
    want((in[0] & 1) == 0 && in[1] & 1 && (in[2] & 1) == 0, "%d %d %d", in[0], in[1], in[2]);
}

CHECK(reports_a_page_that_was_given_back) {
    char *at = pages(1);
    *at = 1;
    works(madvise(at, PAGE, MADV_DONTNEED), "madvise");
    works(syscall(SYS_mincore, at, PAGE, in), "mincore");
    want((in[0] & 1) == 0, "in memory");
}

CHECK(refuses_an_address_inside_a_page) {
    refuses(syscall(SYS_mincore, pages(1) + 1, 1, in), EINVAL, "from byte 1");
}

CHECK(refuses_memory_that_is_not_there) {
    char *at = pages(1);
    works(munmap(at, PAGE), "munmap");
    refuses(syscall(SYS_mincore, at, PAGE, in), ENOMEM, "of nothing");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_mincore, pages(1), PAGE, (void *)8), EFAULT, "an answer at 8");
}

CHECKS
