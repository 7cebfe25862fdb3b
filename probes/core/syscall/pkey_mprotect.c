/* pkey_mprotect: memory's rights, by a key or without. */
#define CAPABILITY "syscall_pkey_mprotect"
#include "_runner_c.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static char *page(void) {
    char *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        blocked("mmap");
    return at;
}

/* Whether the kernel can write there for us. */
static int writable(char *at) {
    int ends[2];
    works(pipe(ends), "pipe");
    works(write(ends[1], "x", 1), "write");
    return read(ends[0], at, 1) == 1;
}

CHECK(changes_rights_without_a_key) {
    char *at = page();
    works(syscall(SYS_pkey_mprotect, at, PAGE, PROT_READ, -1), "pkey_mprotect");
    want(!writable(at), "it can be written");
    works(syscall(SYS_pkey_mprotect, at, PAGE, PROT_READ | PROT_WRITE, -1), "pkey_mprotect");
    want(writable(at), "it can't be written");
}

CHECK(puts_memory_under_a_key) {
    char *at = page();
    long key = syscall(SYS_pkey_alloc, 0, PKEY_DISABLE_WRITE);
    if (key < 0 && (errno == ENOSPC || errno == EINVAL))
        unavailable("this processor has no protection keys");
    works(key, "pkey_alloc");
    int rights = PROT_READ | PROT_WRITE;
    works(syscall(SYS_pkey_mprotect, at, PAGE, rights, key), "pkey_mprotect");
    want(!writable(at), "the key does not keep it from being written");
}

CHECK(refuses_a_key_that_nobody_took) {
    refuses(syscall(SYS_pkey_mprotect, page(), PAGE, PROT_READ, 15), EINVAL, "key 15");
}

CHECK(refuses_an_address_inside_a_page) {
    refuses(syscall(SYS_pkey_mprotect, page() + 1, 1, PROT_READ, -1), EINVAL, "from byte 1");
}

CHECK(refuses_memory_that_is_not_there) {
    char *at = page();
    works(munmap(at, PAGE), "munmap");
    refuses(syscall(SYS_pkey_mprotect, at, PAGE, PROT_READ, -1), ENOMEM, "of nothing");
}

CHECKS
