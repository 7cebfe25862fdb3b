/* The root can be changed for all processes. Asked for a directory that does not exist. */
#define CAPABILITY "kernel_pivot_root"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    if (syscall(SYS_pivot_root, "/nonexistent/new", "/nonexistent/old") == 0 || errno == ENOENT)
        allowed("pivot_root looked at its paths: the right to it was there");
    blocked("pivot_root");
}

PROBE(exercise)
