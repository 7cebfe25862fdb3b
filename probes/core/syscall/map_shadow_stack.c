/* map_shadow_stack: memory for return addresses that programs can't write. */
#define CAPABILITY "syscall_map_shadow_stack"
#include "_runner_c.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_map_shadow_stack
#define SYS_map_shadow_stack 453
#endif

static long map(unsigned long at, unsigned long size, unsigned flags) {
    long result = syscall(SYS_map_shadow_stack, at, size, flags);
    if (result == -1 && errno == EOPNOTSUPP)
        unavailable("this processor has no shadow stacks");
    return result;
}

CHECK(maps_one_that_can_not_be_written) {
    int status;
    char *at = (char *)works(map(0, 4096, 0), "map_shadow_stack");
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        *(volatile char *)at = 1;
        _exit(0);
    }
    waitpid(child, &status, 0);
    want(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "it can be written");
}

CHECK(refuses_unknown_flags) {
    refuses(map(0, 4096, 64), EINVAL, "flag 64");
}

CHECKS
