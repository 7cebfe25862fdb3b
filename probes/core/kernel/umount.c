/* Mounts can be taken away. Asked for the root, with flags that contradict: nothing happens. */
#define CAPABILITY "kernel_umount"
#include "_runner_c.h"

#include <sys/mount.h>

static void exercise(void) {
    if (umount2("/", MNT_EXPIRE | MNT_FORCE) == 0 || errno == EINVAL || errno == EBUSY)
        allowed("umount2 looked at its flags: the right to unmount was there");
    blocked("umount2");
}

PROBE(exercise)
