/* Mounts can be made and changed. Asked with flags that contradict each other: nothing happens. */
#define CAPABILITY "kernel_mount"
#include "_runner_c.h"

#include <sys/mount.h>

static void exercise(void) {
    if (mount("none", "/", NULL, MS_SHARED | MS_PRIVATE, NULL) == 0 || errno == EINVAL)
        allowed("mount looked at its flags: the right to mount was there");
    blocked("mount");
}

PROBE(exercise)
