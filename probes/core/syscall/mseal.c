/* mseal: mappings that can't be changed any more. */
#define CAPABILITY "syscall_mseal"
#include "_runner_c.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_mseal
#define SYS_mseal 462
#endif
#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static char *pages(size_t count) {
    char *at =
        mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        blocked("mmap");
    return at;
}

static char *sealed(void) {
    char *at = pages(1);
    works(syscall(SYS_mseal, at, PAGE, 0), "mseal");
    return at;
}

CHECK(keeps_a_mapping_from_going) {
    char *at = sealed();
    refuses(munmap(at, PAGE), EPERM, "munmap");
    *at = 7;
    want(*at == 7, "it can't be used");
}

CHECK(keeps_its_rights) {
    refuses(mprotect(sealed(), PAGE, PROT_READ), EPERM, "mprotect");
}

CHECK(keeps_its_place) {
    char *at = sealed();
    want(mremap(at, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED && errno == EPERM, "mremap");
    void *over = mmap(at, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    want(over == MAP_FAILED && errno == EPERM, "mmap over it");
}

CHECK(seals_twice) {
    works(syscall(SYS_mseal, sealed(), PAGE, 0), "mseal again");
}

CHECK(leaves_the_neighbours) {
    char *at = pages(3);
    works(syscall(SYS_mseal, at + PAGE, PAGE, 0), "mseal");
    works(munmap(at, PAGE), "munmap of the page before");
    works(munmap(at + 2 * PAGE, PAGE), "munmap of the page after");
    refuses(munmap(at + PAGE, PAGE), EPERM, "munmap of the page between");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_mseal, pages(1), PAGE, 1), EINVAL, "flag 1");
}

CHECK(refuses_an_address_inside_a_page) {
    refuses(syscall(SYS_mseal, pages(1) + 1, 1, 0), EINVAL, "from byte 1");
}

CHECK(refuses_memory_that_is_not_there) {
    char *at = pages(3);
    works(munmap(at + PAGE, PAGE), "munmap");
    refuses(syscall(SYS_mseal, at, 3 * PAGE, 0), ENOMEM, "over a hole");
}

CHECKS
