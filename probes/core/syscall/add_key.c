/* add_key: a key in a ring of the process's own, which goes with it. */
#define CAPABILITY "syscall_add_key"
#include "_runner_c.h"

#include <linux/keyctl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long add(const char *type, const char *name, const char *text, long size) {
    return syscall(SYS_add_key, type, name, text, size, KEY_SPEC_PROCESS_KEYRING);
}

CHECK(keeps_what_it_is_given) {
    char bytes[16] = "";
    long key = works(add("user", "wardian-check", "glass", 5), "add_key");
    works(syscall(SYS_keyctl, KEYCTL_READ, key, bytes, sizeof bytes), "KEYCTL_READ");
    want(strcmp(bytes, "glass") == 0, "it holds %s", bytes);
}

CHECK(changes_a_key_of_the_same_name) {
    long key = works(add("user", "wardian-check", "glass", 5), "add_key");
    want(works(add("user", "wardian-check", "other", 5), "add_key") == key, "another key");
}

CHECK(refuses_unknown_types) {
    refuses(add("wardian", "wardian-check", "x", 1), ENODEV, "a type of no kernel's");
}

CHECK(refuses_an_empty_key) {
    refuses(add("user", "wardian-check", "", 0), EINVAL, "0 bytes");
}

CHECK(refuses_a_bad_address) {
    refuses(add("user", (void *)8, "x", 1), EFAULT, "a name at 8");
}

CHECKS
