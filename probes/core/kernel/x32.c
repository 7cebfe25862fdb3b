/* Calls can be made by the x32 ABI, whose numbers a careless filter does not know. */
#define CAPABILITY "kernel_x32"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static void call(void) {
#ifdef __x86_64__
    if (syscall(0x40000000 | SYS_getpid) < 0)
        blocked("getpid by x32");
    allowed("getpid by x32 answers");
#else
    unavailable("this architecture has no x32");
#endif
}

static void exercise(void) {
    in_child(call);
}

PROBE(exercise)
