/* Disk quotas can be steered (quotactl). Asked to write them out, which changes nothing. */
#define CAPABILITY "kernel_quota"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    if (syscall(SYS_quotactl, (int)(0x800001U << 8), (void *)0, 0, (void *)0) < 0)
        blocked("quotactl Q_SYNC");
    allowed("quotactl answers");
}

PROBE(exercise)
