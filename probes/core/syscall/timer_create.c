/* timer_create: timers of several clocks that send a signal, to a process or a thread. */
#define CAPABILITY "syscall_timer_create"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t rang, value, code;

static void ring(int number, siginfo_t *info, void *context) {
    (void)context;
    rang = number;
    value = info->si_value.sival_int;
    code = info->si_code;
}

static void listen_for(int number) {
    struct sigaction action = {.sa_sigaction = ring, .sa_flags = SA_SIGINFO};
    works(sigaction(number, &action, NULL), "sigaction");
}

static void start(int timer) {
    struct itimerspec soon = {.it_value.tv_nsec = 1000000};
    works(syscall(SYS_timer_settime, timer, 0, &soon, NULL), "timer_settime");
    for (int i = 0; i < 300 && !rang; i++)
        usleep(10000);
}

static void rings_by(clockid_t clock) {
    int timer = -1;
    listen_for(SIGALRM);
    works(syscall(SYS_timer_create, clock, NULL, &timer), "timer_create");
    start(timer);
    want(rang == SIGALRM && code == SI_TIMER, "it did not ring");
}

CHECK(rings_by_the_real_clock) {
    rings_by(CLOCK_REALTIME);
}

CHECK(rings_by_the_monotonic_clock) {
    rings_by(CLOCK_MONOTONIC);
}

CHECK(rings_by_the_boot_clock) {
    rings_by(CLOCK_BOOTTIME);
}

CHECK(rings_by_processor_time) {
    struct itimerspec soon = {.it_value.tv_nsec = 10000000};
    struct timespec spent;
    int timer;
    listen_for(SIGALRM);
    works(syscall(SYS_timer_create, CLOCK_PROCESS_CPUTIME_ID, NULL, &timer), "timer_create");
    works(syscall(SYS_timer_settime, timer, 0, &soon, NULL), "timer_settime");
    do {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    } while (!rang && spent.tv_sec < 2);
    want(rang == SIGALRM, "it did not ring");
}

CHECK(sends_the_signal_and_value_asked_for) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    int timer;
    event.sigev_value.sival_int = 42;
    listen_for(SIGUSR1);
    works(syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer), "timer_create");
    start(timer);
    want(rang == SIGUSR1 && value == 42, "signal %d with %d", rang, value);
}

CHECK(sends_to_the_thread_asked_for) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    int timer;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    listen_for(SIGUSR1);
    works(syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer), "timer_create");
    start(timer);
    want(rang == SIGUSR1, "it did not ring");
}

CHECK(sends_nothing_if_asked) {
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    struct itimerspec soon = {.it_value.tv_nsec = 1000000}, left;
    int timer;
    works(syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer), "timer_create");
    works(syscall(SYS_timer_settime, timer, 0, &soon, NULL), "timer_settime");
    usleep(20000);
    works(syscall(SYS_timer_gettime, timer, &left), "timer_gettime");
    want(left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0, "it still runs");
}

CHECK(gives_each_timer_its_number) {
    int one, other;
    works(syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &one), "timer_create");
    works(syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &other), "timer_create");
    want(one != other, "both are %d", one);
}

CHECK(is_not_inherited_by_children) {
    struct itimerspec left;
    int timer, status;
    works(syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &timer), "timer_create");
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0)
        _exit(syscall(SYS_timer_gettime, timer, &left) != -1 || errno != EINVAL);
    waitpid(child, &status, 0);
    want(status == 0, "a child has it");
}

CHECK(refuses_unknown_clocks) {
    int timer;
    refuses(syscall(SYS_timer_create, 99, NULL, &timer), EINVAL, "clock 99");
}

CHECK(refuses_unknown_ways_and_signals) {
    struct sigevent way = {.sigev_notify = 99}, number = {.sigev_signo = 9999};
    int timer;
    refuses(syscall(SYS_timer_create, CLOCK_MONOTONIC, &way, &timer), EINVAL, "way 99");
    refuses(syscall(SYS_timer_create, CLOCK_MONOTONIC, &number, &timer), EINVAL, "signal 9999");
}

CHECK(refuses_a_thread_of_another_process) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    int timer;
    event._sigev_un._tid = getppid();
    refuses(syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer), EINVAL, "its parent");
}

CHECK(refuses_a_bad_address) {
    int timer;
    refuses(syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, (void *)8), EFAULT, "answer at 8");
    refuses(syscall(SYS_timer_create, CLOCK_MONOTONIC, (void *)8, &timer), EFAULT, "event at 8");
}

CHECKS
