/* remap_file_pages: pages of a shared mapping in another order. */
#define CAPABILITY "syscall_remap_file_pages"
#include "_runner_c.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static char *two_pages(int flags) {
    int fd = (int)works(memfd_create("remap", 0), "memfd_create");
    works(pwrite(fd, "a", 1, 0), "pwrite");
    works(pwrite(fd, "b", 1, (off_t)PAGE), "pwrite");
    works(ftruncate(fd, 2 * (off_t)PAGE), "ftruncate");
    char *at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (at == MAP_FAILED)
        blocked("mmap");
    return at;
}

CHECK(shows_the_second_page_first) {
    char *at = two_pages(MAP_SHARED);
    works(syscall(SYS_remap_file_pages, at, PAGE, 0, 1, 0), "remap_file_pages");
    want(at[0] == 'b' && at[PAGE] == 'b', "%c and %c", at[0], at[PAGE]);
    at[0] = 'c';
    want(at[PAGE] == 'c', "not the same memory");
}

CHECK(refuses_private_memory) {
    refuses(syscall(SYS_remap_file_pages, two_pages(MAP_PRIVATE), PAGE, 0, 1, 0), EINVAL, "of it");
}

CHECK(refuses_to_change_rights) {
    refuses(syscall(SYS_remap_file_pages, two_pages(MAP_SHARED), PAGE, PROT_READ, 1, 0), EINVAL,
            "with rights");
}

CHECK(refuses_memory_that_is_not_there) {
    char *at = two_pages(MAP_SHARED);
    works(munmap(at, 2 * PAGE), "munmap");
    refuses(syscall(SYS_remap_file_pages, at, PAGE, 0, 1, 0), EINVAL, "of nothing");
}

CHECKS
