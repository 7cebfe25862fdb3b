/* A child of one's own can be debugged (ptrace). */
#define CAPABILITY "process_ptrace_child"
#include "_runner_c.h"

#include <sys/ptrace.h>

static void trace(void) {
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
        blocked("ptrace PTRACE_TRACEME");
    allowed("a child can be traced by its parent");
}

static void exercise(void) {
    in_child(trace);
}

PROBE(exercise)
