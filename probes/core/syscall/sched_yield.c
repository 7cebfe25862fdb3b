/* sched_yield: the processor left to another. */
#define CAPABILITY "syscall_sched_yield"
#include "_runner_c.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int turns;

CHECK(comes_back) {
    for (int i = 0; i < 1000; i++)
        want(works(syscall(SYS_sched_yield), "sched_yield") == 0, "not 0");
}

static void *take_a_turn(void *unused) {
    turns++;
    return unused;
}

CHECK(lets_others_run_on_the_same_processor) {
    cpu_set_t here;
    pthread_t thread;
    unsigned cpu;
    works(syscall(SYS_getcpu, &cpu, NULL, NULL), "getcpu");
    CPU_ZERO(&here);
    CPU_SET(cpu, &here);
    works(sched_setaffinity(0, sizeof here, &here), "sched_setaffinity");
    want(pthread_create(&thread, NULL, take_a_turn, NULL) == 0, "no thread");
    for (int i = 0; i < 10000000 && !turns; i++)
        syscall(SYS_sched_yield);
    want(turns == 1, "the other had no turn");
    pthread_join(thread, NULL);
}

CHECK(takes_no_heed_of_arguments) {
    want(syscall(SYS_sched_yield, -1, -1) == 0, "refused");
}

CHECKS
