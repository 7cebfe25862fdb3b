/* The session keyring, which namespaces do not part, can be read. */
#define CAPABILITY "kernel_keyring_read"
#include "_runner_c.h"

#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    if (syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0) < 0)
        blocked("keyctl KEYCTL_GET_KEYRING_ID");
    allowed("found its session keyring");
}

PROBE(exercise)
