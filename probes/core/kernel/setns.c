/* A process can enter namespaces that it holds a descriptor of. */
#define CAPABILITY "kernel_setns"
#include "_runner_c.h"

#include <fcntl.h>
#include <sched.h>

static void enter(void) {
    int own = open("/proc/self/ns/uts", O_RDONLY);
    if (own < 0)
        blocked("open /proc/self/ns/uts");
    if (setns(own, CLONE_NEWUTS) < 0)
        blocked("setns");
    allowed("entered its own UTS namespace, in a child");
}

static void exercise(void) {
    in_child(enter);
}

PROBE(exercise)
