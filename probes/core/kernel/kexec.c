/* Another kernel can be put in place of this one. Asked with flags that no kernel takes. */
#define CAPABILITY "kernel_kexec"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    if (syscall(SYS_kexec_load, 0, ~0UL, (void *)0, ~0UL) == 0 || errno == EINVAL)
        allowed("kexec_load looked at its flags: the right to it was there");
    blocked("kexec_load");
}

PROBE(exercise)
