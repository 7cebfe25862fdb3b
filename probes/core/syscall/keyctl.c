/* keyctl: rings and keys of the process's own, described, linked, forgotten. */
#define CAPABILITY "syscall_keyctl"
#include "_runner_c.h"

#include <linux/keyctl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long key(void) {
    long made = syscall(SYS_add_key, "user", "wardian-check", "x", 1, KEY_SPEC_PROCESS_KEYRING);
    return works(made, "add_key");
}

CHECK(reports_the_number_of_a_ring) {
    long ring = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 1);
    want(works(ring, "KEYCTL_GET_KEYRING_ID") > 0, "ring %ld", ring);
}

CHECK(describes_a_key) {
    char text[128] = "";
    works(syscall(SYS_keyctl, KEYCTL_DESCRIBE, key(), text, sizeof text), "KEYCTL_DESCRIBE");
    want(strncmp(text, "user;", 5) == 0 && strstr(text, ";wardian-check"), "%s", text);
}

CHECK(revokes_a_key) {
    char byte;
    long mine = key();
    works(syscall(SYS_keyctl, KEYCTL_REVOKE, mine), "KEYCTL_REVOKE");
    refuses(syscall(SYS_keyctl, KEYCTL_READ, mine, &byte, 1), EKEYREVOKED, "KEYCTL_READ");
}

CHECK(takes_a_key_out_of_a_ring) {
    long mine = key();
    works(syscall(SYS_keyctl, KEYCTL_UNLINK, mine, KEY_SPEC_PROCESS_KEYRING), "KEYCTL_UNLINK");
    refuses(syscall(SYS_keyctl, KEYCTL_UNLINK, mine, KEY_SPEC_PROCESS_KEYRING), ENOENT, "again");
}

CHECK(refuses_unknown_commands) {
    refuses(syscall(SYS_keyctl, 9999), EOPNOTSUPP, "command 9999");
}

CHECK(refuses_a_key_that_is_none) {
    refuses(syscall(SYS_keyctl, KEYCTL_REVOKE, 0x7ffffffe), ENOKEY, "key 0x7ffffffe");
}

CHECKS
