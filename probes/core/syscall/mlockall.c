/* mlockall: all memory that stays, now or from now on. */
#define CAPABILITY "syscall_mlockall"
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

CHECK(locks_what_is_there) {
    works(syscall(SYS_mlockall, MCL_CURRENT | MCL_ONFAULT), "mlockall");
    want(locked() > 0, "nothing is locked");
}

CHECK(locks_what_is_to_come) {
    works(syscall(SYS_mlockall, MCL_FUTURE | MCL_ONFAULT), "mlockall");
    long before = locked();
    pages(4);
    want(locked() == before + (long)(4 * PAGE / 1024), "%ld KiB are locked", locked() - before);
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_mlockall, 64), EINVAL, "flag 64");
    refuses(syscall(SYS_mlockall, 0), EINVAL, "no flag");
    refuses(syscall(SYS_mlockall, MCL_ONFAULT), EINVAL, "MCL_ONFAULT alone");
}

CHECK(refuses_more_than_the_limit) {
    limit(PAGE);
    refuses(syscall(SYS_mlockall, MCL_CURRENT), ENOMEM, "under a limit of a page");
}

CHECK(refuses_all_under_a_limit_of_0) {
    limit(0);
    refuses(syscall(SYS_mlockall, MCL_CURRENT), EPERM, "under a limit of 0");
}

CHECKS
