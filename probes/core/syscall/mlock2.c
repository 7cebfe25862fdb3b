/* mlock2: memory that stays, at once or as it is touched. */
#define CAPABILITY "syscall_mlock2"
#include "_runner_c.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static char *pages(size_t count) {
    char *at =
        mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        blocked("mmap");
    return at;
}

/* How many KiB are locked, as /proc says; -1 if it does not. */
static long locked(void) {
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmLck: %ld", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib;
}

/* A limit for whoever has no privilege. */
static void limit(size_t bytes) {
    struct rlimit few = {bytes, bytes};
    works(setrlimit(RLIMIT_MEMLOCK, &few), "setrlimit");
    if (geteuid() == 0 && setuid(65534) < 0)
        unavailable("root here can't become anybody else");
}

CHECK(locks_at_once) {
    unsigned char in[2];
    char *at = pages(2);
    works(syscall(SYS_mlock2, at, 2 * PAGE, 0), "mlock2");
    works(mincore(at, 2 * PAGE, in), "mincore");
    want(in[0] & in[1] & 1, "not in memory");
    want(locked() == (long)(2 * PAGE / 1024), "%ld KiB are locked", locked());
}

CHECK(locks_what_is_touched) {
    unsigned char in[2];
    char *at = pages(2);
    works(syscall(SYS_mlock2, at, 2 * PAGE, MLOCK_ONFAULT), "mlock2");
    at[0] = 1;
    works(mincore(at, 2 * PAGE, in), "mincore");
    want(in[0] & 1 && (in[1] & 1) == 0, "not the first page alone is in memory");
    want(locked() == (long)(2 * PAGE / 1024), "%ld KiB are locked", locked());
}

CHECK(is_undone_by_munlock) {
    char *at = pages(1);
    works(syscall(SYS_mlock2, at, PAGE, MLOCK_ONFAULT), "mlock2");
    works(munlock(at, PAGE), "munlock");
    want(locked() == 0, "%ld KiB are locked", locked());
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_mlock2, pages(1), PAGE, 2), EINVAL, "flag 2");
}

CHECK(refuses_memory_that_is_not_there) {
    char *at = pages(1);
    works(munmap(at, PAGE), "munmap");
    refuses(syscall(SYS_mlock2, at, PAGE, 0), ENOMEM, "of nothing");
}

CHECK(refuses_more_than_the_limit) {
    char *at = pages(8);
    limit(4 * PAGE);
    refuses(syscall(SYS_mlock2, at, 8 * PAGE, MLOCK_ONFAULT), ENOMEM, "beyond it");
}

CHECKS
