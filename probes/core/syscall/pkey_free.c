/* pkey_free: protection keys given back. */
#define CAPABILITY "syscall_pkey_free"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

CHECK(gives_a_key_back) {
    long key = syscall(SYS_pkey_alloc, 0, 0);
    if (key < 0 && (errno == ENOSPC || errno == EINVAL))
        unavailable("this processor has no protection keys");
    works(syscall(SYS_pkey_free, works(key, "pkey_alloc")), "pkey_free");
    want(syscall(SYS_pkey_alloc, 0, 0) == key, "another key comes next");
}

CHECK(refuses_a_key_that_nobody_took) {
    refuses(syscall(SYS_pkey_free, 15), EINVAL, "key 15");
}

CHECK(refuses_a_key_that_is_none) {
    refuses(syscall(SYS_pkey_free, -1), EINVAL, "key -1");
    refuses(syscall(SYS_pkey_free, 1000), EINVAL, "key 1000");
}

CHECKS
