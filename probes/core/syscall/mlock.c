/* mlock: memory that stays, within a limit. */
#define CAPABILITY "syscall_mlock"
#include "_runner_c.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

CHECK(locks_as_much_as_asked) {
    char *at = pages(4);
    works(syscall(SYS_mlock, at, 4 * PAGE), "mlock");
    want(locked() == (long)(4 * PAGE / 1024), "%ld KiB are locked", locked());
}

CHECK(brings_the_pages_in) {
    unsigned char in[2];
    char *at = pages(2);
    works(syscall(SYS_mlock, at, 2 * PAGE), "mlock");
    works(mincore(at, 2 * PAGE, in), "mincore");
    want(in[0] & in[1] & 1, "not in memory");
}

CHECK(rounds_to_pages) {
    char *at = pages(2);
    works(syscall(SYS_mlock, at + 1, PAGE), "mlock of parts of two pages");
    want(locked() == (long)(2 * PAGE / 1024), "%ld KiB are locked", locked());
}

CHECK(is_not_inherited_by_children) {
    int status;
    works(syscall(SYS_mlock, pages(1), PAGE), "mlock");
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0)
        _exit(locked() != 0);
    waitpid(child, &status, 0);
    want(status == 0, "a child has locked memory");
}

CHECK(refuses_memory_that_is_not_there) {
    char *at = pages(1);
    works(munmap(at, PAGE), "munmap");
    refuses(syscall(SYS_mlock, at, PAGE), ENOMEM, "of nothing");
}

CHECK(refuses_more_than_the_limit) {
    char *at = pages(8);
    limit(4 * PAGE);
    works(syscall(SYS_mlock, at, 2 * PAGE), "mlock within the limit");
    refuses(syscall(SYS_mlock, at, 8 * PAGE), ENOMEM, "beyond it");
}

CHECK(refuses_all_under_a_limit_of_0) {
    char *at = pages(1);
    limit(0);
    refuses(syscall(SYS_mlock, at, PAGE), EPERM, "under a limit of 0");
}

CHECKS
