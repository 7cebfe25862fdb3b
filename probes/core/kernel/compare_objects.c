/* Kernel objects of two processes can be compared (kcmp). */
#define CAPABILITY "kernel_compare_objects"
#include "_runner_c.h"

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    if (syscall(SYS_kcmp, getpid(), getpid(), KCMP_VM, 0, 0) < 0)
        blocked("kcmp");
    allowed("compared itself with itself");
}

PROBE(exercise)
