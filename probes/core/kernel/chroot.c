/* A process can change its root directory. */
#define CAPABILITY "kernel_chroot"
#include "_runner_c.h"

#include <unistd.h>

static void change(void) {
    if (chroot("/usr") < 0)
        blocked("chroot /usr");
    allowed("changed root to /usr, in a child");
}

static void exercise(void) {
    in_child(change);
}

PROBE(exercise)
