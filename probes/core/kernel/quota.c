/* Disk quotas can be asked for and changed. Asked for a command that does not exist. */
#define CAPABILITY "kernel_quota"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    /* Q_SYNC for all filesystems changes nothing but when quotas are written. */
    if (syscall(SYS_quotactl, (int)(0x800001U << 8), (void *)0, 0, (void *)0) < 0)
        blocked("quotactl Q_SYNC");
    allowed("quotactl answers");
}

PROBE(exercise)
