/* A copy of a mount can be taken (open_tree with OPEN_TREE_CLONE). */
#define CAPABILITY "kernel_open_tree"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif

static void exercise(void) {
    if (syscall(SYS_open_tree, AT_FDCWD, "/usr", OPEN_TREE_CLONE) < 0)
        blocked("open_tree /usr");
    allowed("took a copy of the mount at /usr, and attached it nowhere");
}

PROBE(exercise)
