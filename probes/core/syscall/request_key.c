/* request_key: a key that is found by name, and one that is not. */
#define CAPABILITY "syscall_request_key"
#include "_runner_c.h"

#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(refuses_a_key_that_nobody_has) {
    refuses(syscall(SYS_request_key, "user", "wardian-no-such-key", NULL, 0), ENOKEY, "no key");
}

CHECK(finds_a_key_by_its_name) {
    long key = syscall(SYS_add_key, "user", "wardian-check", "x", 1, KEY_SPEC_PROCESS_KEYRING);
    works(key, "add_key");
    long found = works(syscall(SYS_request_key, "user", "wardian-check", NULL, 0), "request_key");
    want(found == key, "another key");
}

CHECK(refuses_unknown_types) {
    refuses(syscall(SYS_request_key, "wardian", "x", NULL, 0), ENOKEY, "a type of no kernel's");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_request_key, "user", (void *)8, NULL, 0), EFAULT, "a name at 8");
}

CHECKS
