/* Swap space can be added. Asked for a path that names nothing. */
#define CAPABILITY "kernel_swapon"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    if (syscall(SYS_swapon, "/nonexistent/swap", 0) == 0 || errno == ENOENT)
        allowed("swapon looked for its file: the right to it was there");
    blocked("swapon");
}

PROBE(exercise)
