/* epoll_pwait: what is ready, under a signal mask for the wait. */
#define CAPABILITY "syscall_epoll_pwait"
#include "_runner_c.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static struct epoll_event got[8];
static volatile sig_atomic_t rang;
static unsigned long nobody = 0, alarms = 1ul << (SIGALRM - 1);

static void ring(int number) {
    rang = number;
}

static int watch(int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    int set = (int)works(epoll_create1(0), "epoll_create1");
    works(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
    return set;
}

CHECK(reports_what_is_ready) {
    int fd = (int)works(eventfd(1, 0), "eventfd"), set = watch(fd);
    want(works(syscall(SYS_epoll_pwait, set, got, 8, 0, NULL, 8), "epoll_pwait") == 1, "not one");
    want(got[0].events == EPOLLIN && got[0].data.fd == fd, "another event");
}

CHECK(gives_0_when_the_time_is_up) {
    int set = watch((int)works(eventfd(0, 0), "eventfd"));
    want(works(syscall(SYS_epoll_pwait, set, got, 8, 20, NULL, 8), "epoll_pwait") == 0, "ready");
}

CHECK(waits_until_something_comes) {
    int fd = (int)works(eventfd(0, 0), "eventfd"), set = watch(fd);
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        usleep(50000);
        _exit(eventfd_write(fd, 1));
    }
    want(works(syscall(SYS_epoll_pwait, set, got, 8, 3000, NULL, 8), "epoll_pwait") == 1, "no");
    waitpid(child, NULL, 0);
}

CHECK(lets_a_blocked_signal_in_for_the_wait) {
    int set = watch((int)works(eventfd(0, 0), "eventfd"));
    sigset_t now;
    signal(SIGALRM, ring);
    works(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &alarms, NULL, 8), "rt_sigprocmask");
    raise(SIGALRM);
    refuses(syscall(SYS_epoll_pwait, set, got, 8, 3000, &nobody, 8), EINTR, "a signal pending");
    want(rang == SIGALRM, "the handler did not run");
    sigprocmask(SIG_BLOCK, NULL, &now);
    want(sigismember(&now, SIGALRM) == 1, "the mask from before is lost");
}

CHECK(keeps_a_signal_out_for_the_wait) {
    int set = watch((int)works(eventfd(0, 0), "eventfd"));
    struct itimerval once = {.it_value.tv_usec = 10000};
    signal(SIGALRM, ring);
    works(setitimer(ITIMER_REAL, &once, NULL), "setitimer");
    want(works(syscall(SYS_epoll_pwait, set, got, 8, 50, &alarms, 8), "epoll_pwait") == 0, "ready");
    for (int i = 0; i < 200 && !rang; i++)
        usleep(10000);
    want(rang == SIGALRM, "the signal is lost");
}

CHECK(refuses_a_mask_of_another_size) {
    int set = watch((int)works(eventfd(0, 0), "eventfd"));
    refuses(syscall(SYS_epoll_pwait, set, got, 8, 0, &nobody, 4), EINVAL, "a mask of 4 bytes");
}

CHECK(refuses_no_room) {
    int set = watch((int)works(eventfd(1, 0), "eventfd"));
    refuses(syscall(SYS_epoll_pwait, set, got, 0, 0, NULL, 8), EINVAL, "epoll_pwait for 0");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_epoll_pwait, -1, got, 8, 0, NULL, 8), EBADF, "epoll_pwait on -1");
}

CHECK(refuses_what_is_no_set) {
    refuses(syscall(SYS_epoll_pwait, eventfd(0, 0), got, 8, 0, NULL, 8), EINVAL, "on an eventfd");
}

CHECK(refuses_a_bad_address) {
    int set = watch((int)works(eventfd(1, 0), "eventfd"));
    refuses(syscall(SYS_epoll_pwait, set, (void *)8, 8, 0, NULL, 8), EFAULT, "events at 8");
    refuses(syscall(SYS_epoll_pwait, set, got, 8, 0, (void *)8, 8), EFAULT, "a mask at 8");
}

CHECKS
