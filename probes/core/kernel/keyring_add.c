/* A key can be given to the kernel to keep (add_key). */
#define CAPABILITY "kernel_keyring_add"
#include "_runner_c.h"

#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    /* The process keyring goes with the process. */
    if (syscall(SYS_add_key, "user", "probe", "x", 1, KEY_SPEC_PROCESS_KEYRING) < 0)
        blocked("add_key");
    allowed("added a key to its process keyring");
}

PROBE(exercise)
