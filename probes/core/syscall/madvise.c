/* madvise: memory given back, kept from children, brought in, and advice that is none. */
#define CAPABILITY "syscall_madvise"
#include "_runner_c.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

static char *pages(size_t count, int flags) {
    char *at = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        blocked("mmap");
    return at;
}

static long advise(char *at, size_t count, int advice) {
    return syscall(SYS_madvise, at, count * PAGE, advice);
}

/* What a child finds there: its byte, or minus the signal that ended it. */
static int seen_by_child(char *at) {
    int status;
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0)
        _exit(*(volatile char *)at);
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

CHECK(empties_what_is_not_needed) {
    char *at = pages(2, MAP_PRIVATE);
    at[0] = at[PAGE] = 7;
    works(advise(at, 1, MADV_DONTNEED), "madvise");
    want(at[0] == 0 && at[PAGE] == 7, "not the first page alone");
}

CHECK(gives_a_file_s_bytes_again) {
    int fd = (int)works(memfd_create("madvise", 0), "memfd_create");
    works(write(fd, "glass", 5), "write");
    char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    want(at != MAP_FAILED, "mmap failed");
    at[0] = 'b';
    works(syscall(SYS_madvise, at, 4096, MADV_DONTNEED), "madvise");
    want(at[0] == 'g', "the change is still there");
}

CHECK(frees_what_is_not_needed_in_time) {
    char *at = pages(1, MAP_PRIVATE);
    at[0] = 7;
    works(advise(at, 1, MADV_FREE), "madvise");
    at[0] = 8;
    want(at[0] == 8, "a later write is lost");
}

CHECK(punches_a_hole_into_shared_memory) {
    char *at = pages(1, MAP_SHARED);
    at[0] = 7;
    works(advise(at, 1, MADV_REMOVE), "madvise");
    want(at[0] == 0, "the byte is still there");
}

CHECK(keeps_memory_from_children) {
    char *at = pages(1, MAP_PRIVATE);
    at[0] = 7;
    works(advise(at, 1, MADV_DONTFORK), "madvise");
    want(seen_by_child(at) == -SIGSEGV, "a child has it");
    works(advise(at, 1, MADV_DOFORK), "madvise to undo it");
    want(seen_by_child(at) == 7, "a child has it not");
}

CHECK(empties_memory_for_children) {
    char *at = pages(1, MAP_PRIVATE);
    at[0] = 7;
    works(advise(at, 1, MADV_WIPEONFORK), "madvise");
    want(seen_by_child(at) == 0 && at[0] == 7, "a child sees the byte");
}

CHECK(brings_pages_in) {
    unsigned char in[2];
    char *at = pages(2, MAP_PRIVATE);
    works(advise(at, 2, MADV_POPULATE_WRITE), "madvise");
    works(mincore(at, 2 * PAGE, in), "mincore");
    want(in[0] & in[1] & 1, "not in memory");
    works(advise(at, 2, MADV_POPULATE_READ), "madvise");
}

CHECK(keeps_what_is_put_aside) {
    char *at = pages(1, MAP_PRIVATE);
    at[0] = 7;
    works(advise(at, 1, MADV_COLD), "madvise MADV_COLD");
    works(advise(at, 1, MADV_PAGEOUT), "madvise MADV_PAGEOUT");
    want(at[0] == 7, "it is lost");
}

CHECK(takes_advice_on_order) {
    static const int orders[] = {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED};
    char *at = pages(1, MAP_PRIVATE);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        works(advise(at, 1, orders[i]), "madvise");
}

CHECK(takes_advice_on_core_files) {
    char *at = pages(1, MAP_PRIVATE);
    works(advise(at, 1, MADV_DONTDUMP), "madvise MADV_DONTDUMP");
    works(advise(at, 1, MADV_DODUMP), "madvise MADV_DODUMP");
}

CHECK(takes_advice_on_huge_pages) {
    char *at = pages(1, MAP_PRIVATE);
    long asked = advise(at, 1, MADV_HUGEPAGE);
    if (asked < 0 && errno == EINVAL)
        unavailable("this kernel has no huge pages of its own accord");
    works(asked, "madvise MADV_HUGEPAGE");
    works(advise(at, 1, MADV_NOHUGEPAGE), "madvise MADV_NOHUGEPAGE");
}

CHECK(refuses_unknown_advice) {
    refuses(advise(pages(1, MAP_PRIVATE), 1, 9999), EINVAL, "advice 9999");
}

CHECK(refuses_an_address_inside_a_page) {
    refuses(advise(pages(2, MAP_PRIVATE) + 1, 1, MADV_NORMAL), EINVAL, "from byte 1");
}

CHECK(refuses_memory_that_is_not_there) {
    char *at = pages(3, MAP_PRIVATE);
    works(munmap(at + PAGE, PAGE), "munmap");
    refuses(advise(at, 3, MADV_DONTNEED), ENOMEM, "over a hole");
}

CHECK(refuses_to_empty_what_is_locked) {
    char *at = pages(1, MAP_PRIVATE);
    works(mlock(at, PAGE), "mlock");
    refuses(advise(at, 1, MADV_DONTNEED), EINVAL, "of locked memory");
}

CHECKS
