/* times: processor time, one's own and that of children. */
#define CAPABILITY "syscall_times"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Spend some processor time. */
static void work(long ns) {
    struct timespec spent;
    do {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    } while (spent.tv_sec == 0 && spent.tv_nsec < ns);
}

CHECK(reports_its_own_time) {
    struct tms used;
    work(100000000);
    works(syscall(SYS_times, &used), "times");
    want(used.tms_utime + used.tms_stime >= 5, "%ld ticks", used.tms_utime + used.tms_stime);
    want(used.tms_cutime + used.tms_cstime == 0, "there is no child yet");
}

CHECK(reports_the_time_of_children_that_ended) {
    struct tms used;
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        work(100000000);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    works(syscall(SYS_times, &used), "times");
    want(used.tms_cutime + used.tms_cstime >= 5, "%ld ticks", used.tms_cutime + used.tms_cstime);
}

CHECK(gives_ticks_that_go_on) {
    long before = syscall(SYS_times, NULL);
    usleep(50000);
    want(syscall(SYS_times, NULL) > before, "time stands still");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_times, (void *)8), EFAULT, "an answer at 8");
}

CHECKS
