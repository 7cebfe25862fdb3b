/* munlockall: no memory need stay any more. */
#define CAPABILITY "syscall_munlockall"
#include "_runner_c.h"

#include <stdio.h>
#include <sys/mman.h>
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

CHECK(unlocks_everything) {
    works(mlock(pages(2), 2 * PAGE), "mlock");
    works(mlock(pages(1), PAGE), "mlock");
    want(locked() == (long)(3 * PAGE / 1024), "%ld KiB are locked", locked());
    works(syscall(SYS_munlockall), "munlockall");
    want(locked() == 0, "%ld KiB are locked", locked());
}

CHECK(lets_what_is_locked_be_emptied_again) {
    char *at = pages(1);
    *at = 7;
    works(mlock(at, PAGE), "mlock");
    refuses(madvise(at, PAGE, MADV_DONTNEED), EINVAL, "madvise while locked");
    works(syscall(SYS_munlockall), "munlockall");
    works(madvise(at, PAGE, MADV_DONTNEED), "madvise");
    want(*at == 0, "not emptied");
}

CHECK(undoes_what_is_to_come) {
    if (mlockall(MCL_FUTURE | MCL_ONFAULT) < 0)
        unavailable("mlockall fails here");
    works(syscall(SYS_munlockall), "munlockall");
    pages(1);
    want(locked() == 0, "%ld KiB are locked", locked());
}

CHECKS
