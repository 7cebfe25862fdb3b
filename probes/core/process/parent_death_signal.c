/* A process can ask for a signal when its parent dies (PR_SET_PDEATHSIG). */
#define CAPABILITY "process_parent_death_signal"
#include "_runner_c.h"

#include <signal.h>
#include <sys/prctl.h>

static void exercise(void) {
    int wanted = 0;
    if (prctl(PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0) < 0)
        blocked("PR_SET_PDEATHSIG");
    if (prctl(PR_GET_PDEATHSIG, &wanted, 0, 0, 0) < 0 || wanted != SIGUSR1)
        blocked("PR_GET_PDEATHSIG");
    allowed("asked for SIGUSR1");
}

PROBE(exercise)
