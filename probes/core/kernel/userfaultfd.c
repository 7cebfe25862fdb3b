/* A program can hold the kernel in mid-access to its memory (userfaultfd). */
#define CAPABILITY "kernel_userfaultfd"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

static void exercise(void) {
    if (syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY) < 0)
        blocked("userfaultfd");
    allowed("made a userfaultfd for its own faults");
}

PROBE(exercise)
