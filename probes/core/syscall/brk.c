/* brk: the end of the heap, moved up and down. */
#define CAPABILITY "syscall_brk"
#include "_runner_c.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE sysconf(_SC_PAGESIZE)

static int there(long at) {
    int ends[2];
    works(pipe(ends), "pipe");
    return write(ends[1], (void *)at, 1) == 1;
}

/* The first page beyond the end, the heap being at a page's end. */
static long end(void) {
    long now = syscall(SYS_brk, 0), whole = (now + PAGE - 1) / PAGE * PAGE;
    want(now > 0 && syscall(SYS_brk, whole) == whole, "the heap can't be rounded up");
    return whole;
}

CHECK(reports_where_the_heap_ends) {
    want(syscall(SYS_brk, 0) == (long)sbrk(0), "another end than the library's");
}

CHECK(makes_the_heap_bigger) {
    long at = end();
    want(!there(at), "memory beyond the end");
    want(syscall(SYS_brk, at + 2 * PAGE) == at + 2 * PAGE, "another end");
    *(char *)at = 7;
    want(*(char *)at == 7 && *(char *)(at + PAGE) == 0, "other bytes");
}

CHECK(makes_the_heap_smaller) {
    long at = end();
    want(syscall(SYS_brk, at + PAGE) == at + PAGE && there(at), "it did not grow");
    want(syscall(SYS_brk, at) == at && !there(at), "it did not shrink");
}

CHECK(stays_where_it_is_if_it_may_not_go) {
    long at = end();
    want(syscall(SYS_brk, 1) == at, "below the heap");
    want(syscall(SYS_brk, -PAGE) == at, "above all addresses");
}

CHECK(stays_within_the_limit) {
    long at = end();
    struct rlimit none = {0, 0};
    works(setrlimit(RLIMIT_DATA, &none), "setrlimit");
    want(syscall(SYS_brk, at + (1 << 20)) == at, "it grew");
}

CHECKS
