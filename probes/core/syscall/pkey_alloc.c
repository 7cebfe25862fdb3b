/* pkey_alloc: protection keys, as many as the processor has. */
#define CAPABILITY "syscall_pkey_alloc"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static long first(void) {
    long key = syscall(SYS_pkey_alloc, 0, 0);
    if (key < 0 && (errno == ENOSPC || errno == EINVAL))
        unavailable("this processor has no protection keys");
    return works(key, "pkey_alloc");
}

CHECK(gives_keys_that_differ) {
    long one = first(), other = works(syscall(SYS_pkey_alloc, 0, 1), "pkey_alloc");
    want(one > 0 && other > 0 && other != one, "keys %ld and %ld", one, other);
}

CHECK(comes_to_an_end) {
    long key = first();
    for (int i = 0; i < 64 && key >= 0; i++)
        key = syscall(SYS_pkey_alloc, 0, 0);
    refuses(key, ENOSPC, "one more");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_pkey_alloc, 1, 0), EINVAL, "flag 1");
}

CHECK(refuses_unknown_rights) {
    refuses(syscall(SYS_pkey_alloc, 0, 0x1000), EINVAL, "right 0x1000");
}

CHECKS
