/* sched_setaffinity: the processors a thread may run on. */
#define CAPABILITY "syscall_sched_setaffinity"
#include "_runner_c.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static cpu_set_t all, one;

/* The last processor that the caller may run on, alone in a set. */
static unsigned choose_one(void) {
    works(sched_getaffinity(0, sizeof all, &all), "sched_getaffinity");
    unsigned cpu = CPU_SETSIZE - 1;
    while (cpu > 0 && !CPU_ISSET(cpu, &all))
        cpu--;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return cpu;
}

CHECK(moves_the_caller) {
    unsigned cpu = choose_one(), here = 0;
    works(syscall(SYS_sched_setaffinity, 0, sizeof one, &one), "sched_setaffinity");
    works(syscall(SYS_getcpu, &here, NULL, NULL), "getcpu");
    want(here == cpu, "it runs on %u", here);
}

CHECK(is_kept) {
    cpu_set_t current;
    choose_one();
    works(syscall(SYS_sched_setaffinity, 0, sizeof one, &one), "sched_setaffinity");
    works(sched_getaffinity(0, sizeof current, &current), "sched_getaffinity");
    want(CPU_EQUAL(&current, &one), "another set");
    works(syscall(SYS_sched_setaffinity, 0, sizeof all, &all), "the way back");
}

CHECK(reaches_a_child_and_not_its_parent) {
    cpu_set_t current;
    choose_one();
    pid_t child = child_that(waits);
    works(syscall(SYS_sched_setaffinity, child, sizeof one, &one), "sched_setaffinity");
    works(sched_getaffinity(child, sizeof current, &current), "sched_getaffinity");
    want(CPU_EQUAL(&current, &one), "another set");
    works(sched_getaffinity(0, sizeof current, &current), "sched_getaffinity");
    want(CPU_EQUAL(&current, &all), "the parent's has changed");
}

static void is_alike(void) {
    cpu_set_t current;
    _exit(sched_getaffinity(0, sizeof current, &current) == 0 && CPU_EQUAL(&current, &one) ? 0 : 1);
}

CHECK(is_inherited) {
    choose_one();
    works(syscall(SYS_sched_setaffinity, 0, sizeof one, &one), "sched_setaffinity");
    want(end_of(child_that(is_alike)) == 0, "the child has another set");
}

CHECK(refuses_no_processors) {
    CPU_ZERO(&one);
    refuses(syscall(SYS_sched_setaffinity, 0, sizeof one, &one), EINVAL, "an empty set");
}

CHECK(refuses_nobody) {
    choose_one();
    refuses(syscall(SYS_sched_setaffinity, 0x7ffffff0, sizeof one, &one), ESRCH, "nobody");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_sched_setaffinity, 0, sizeof one, 8), EFAULT, "address 8");
}

CHECKS
