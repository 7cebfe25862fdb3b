/* munmap: mappings that go, whole, in part, and where none is. */
#define CAPABILITY "syscall_munmap"
#include "_runner_c.h"

#include <stdint.h>
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

/* Whether something is mapped there: a write from it says. */
static int there(const char *at) {
    int ends[2];
    works(pipe(ends), "pipe");
    int found = write(ends[1], at, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return found;
}

CHECK(takes_a_mapping_away) {
    char *at = pages(1);
    want(there(at), "not mapped");
    works(syscall(SYS_munmap, at, PAGE), "munmap");
    want(!there(at) && errno == EFAULT, "still there");
}

CHECK(takes_the_middle_away) {
    char *at = pages(3);
    works(syscall(SYS_munmap, at + PAGE, PAGE), "munmap");
    want(there(at) && !there(at + PAGE) && there(at + 2 * PAGE), "not only the middle");
}

CHECK(takes_whole_pages) {
    char *at = pages(2);
    works(syscall(SYS_munmap, at, 1), "munmap of a byte");
    want(!there(at) && there(at + PAGE), "not the page of that byte alone");
}

CHECK(takes_several_mappings_at_once) {
    char *at = pages(4);
    works(mprotect(at + PAGE, PAGE, PROT_READ), "mprotect");
    works(syscall(SYS_munmap, at, 4 * PAGE), "munmap");
    want(!there(at) && !there(at + PAGE) && !there(at + 3 * PAGE), "not all");
}

CHECK(finds_nothing_and_says_nothing) {
    char *at = pages(1);
    works(syscall(SYS_munmap, at, PAGE), "munmap");
    works(syscall(SYS_munmap, at, PAGE), "munmap of nothing");
}

CHECK(refuses_an_address_inside_a_page) {
    char *at = pages(1);
    refuses(syscall(SYS_munmap, at + 1, PAGE), EINVAL, "from byte 1");
    want(there(at), "it went all the same");
}

CHECK(refuses_nothing_at_all) {
    refuses(syscall(SYS_munmap, pages(1), 0), EINVAL, "of 0 bytes");
}

CHECK(refuses_more_than_there_are_addresses) {
    refuses(syscall(SYS_munmap, pages(1), SIZE_MAX), EINVAL, "of 2^64-1 bytes");
}

CHECKS
