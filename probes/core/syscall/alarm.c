/* alarm: a signal in some seconds, and the seconds that were left. */
#define CAPABILITY "syscall_alarm"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef SYS_alarm
static volatile sig_atomic_t rang;

static void ring(int number) {
    rang = number;
}

CHECK(rings_once_its_time_has_come) {
    signal(SIGALRM, ring);
    want(syscall(SYS_alarm, 1) == 0, "another alarm was set");
    for (int i = 0; i < 30 && !rang; i++)
        usleep(100000);
    want(rang == SIGALRM, "it did not ring");
}

CHECK(ends_a_process_that_does_not_care) {
    int status;
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        syscall(SYS_alarm, 1);
        sleep(3);
        _exit(0);
    }
    waitpid(child, &status, 0);
    want(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM, "it lives");
}

CHECK(reports_the_seconds_that_were_left) {
    syscall(SYS_alarm, 1000);
    long left = syscall(SYS_alarm, 0);
    want(left > 0 && left <= 1000, "%ld of 1000", left);
    want(syscall(SYS_alarm, 0) == 0, "it is still set");
}

CHECK(is_the_interval_timer_of_real_time) {
    struct itimerval left;
    syscall(SYS_alarm, 1000);
    works(getitimer(ITIMER_REAL, &left), "getitimer");
    want(left.it_value.tv_sec > 0 && left.it_interval.tv_sec == 0, "another timer");
}

CHECK(is_not_inherited_by_children) {
    int status;
    syscall(SYS_alarm, 1000);
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0)
        _exit(syscall(SYS_alarm, 0) != 0);
    waitpid(child, &status, 0);
    want(status == 0, "a child has it");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no alarm");
}
#endif

CHECKS
