/* munlock: locked memory that need not stay any more. */
#define CAPABILITY "syscall_munlock"
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

CHECK(unlocks_as_much_as_asked) {
    char *at = pages(4);
    works(mlock(at, 4 * PAGE), "mlock");
    works(syscall(SYS_munlock, at, PAGE), "munlock");
    want(locked() == (long)(3 * PAGE / 1024), "%ld KiB are locked", locked());
}

CHECK(undoes_several_locks_at_once) {
    char *at = pages(1);
    works(mlock(at, PAGE), "mlock");
    works(mlock(at, PAGE), "mlock again");
    works(syscall(SYS_munlock, at, PAGE), "munlock");
    want(locked() == 0, "%ld KiB are locked", locked());
}

CHECK(leaves_what_is_not_locked) {
    char *at = pages(1);
    *at = 7;
    works(syscall(SYS_munlock, at, PAGE), "munlock");
    want(*at == 7 && locked() == 0, "something has changed");
}

CHECK(refuses_memory_that_is_not_there) {
    char *at = pages(1);
    works(munmap(at, PAGE), "munmap");
    refuses(syscall(SYS_munlock, at, PAGE), ENOMEM, "of nothing");
}

CHECKS
