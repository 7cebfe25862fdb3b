/* io_pgetevents: finished work, waited for under a signal mask. */
#define CAPABILITY "syscall_io_pgetevents"
#include "_runner_c.h"

#include <linux/aio_abi.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_io_pgetevents
#define SYS_io_pgetevents 292
#endif

static struct io_event event[8];
static char bytes[16];
static volatile sig_atomic_t rang;
static unsigned long nobody = 0, alarms = 1ul << (SIGALRM - 1);

/* The last argument. */
struct mask {
    const void *mask;
    size_t size;
};

static void ring(int number) {
    rang = number;
}

static aio_context_t context;

static void make(void) {
    works(syscall(SYS_io_setup, 8, &context), "io_setup");
}

/* A file of some bytes that has no name. */
static int file(void) {
    int fd = (int)works(memfd_create("aio", 0), "memfd_create");
    works(write(fd, "glass house", 11), "write");
    return fd;
}

static long get(long least, struct timespec *time, const struct mask *mask) {
    return syscall(SYS_io_pgetevents, context, least, 8, event, time, mask);
}

CHECK(gives_what_is_finished) {
    struct iocb one = {.aio_lio_opcode = IOCB_CMD_PREAD, .aio_fildes = (unsigned)file(),
                       .aio_buf = (unsigned long)bytes, .aio_nbytes = 5, .aio_data = 42};
    struct iocb *list[1] = {&one};
    make();
    works(syscall(SYS_io_submit, context, 1, list), "io_submit");
    want(works(get(1, NULL, NULL), "io_pgetevents") == 1, "not one");
    want(event[0].res == 5 && event[0].data == 42, "another event");
}

CHECK(gives_0_when_the_time_is_up) {
    struct timespec soon = {0, 20000000};
    make();
    want(works(get(1, &soon, NULL), "io_pgetevents") == 0, "not 0");
}

CHECK(lets_a_blocked_signal_in_for_the_wait) {
    struct timespec late = {3, 0};
    struct mask all = {&nobody, 8};
    sigset_t now;
    make();
    signal(SIGALRM, ring);
    works(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &alarms, NULL, 8), "rt_sigprocmask");
    raise(SIGALRM);
    refuses(get(1, &late, &all), EINTR, "a signal pending");
    want(rang == SIGALRM, "the handler did not run");
    sigprocmask(SIG_BLOCK, NULL, &now);
    want(sigismember(&now, SIGALRM) == 1, "the mask from before is lost");
}

CHECK(keeps_a_signal_out_for_the_wait) {
    struct timespec soon = {0, 50000000};
    struct itimerval once = {.it_value.tv_usec = 10000};
    struct mask none = {&alarms, 8};
    make();
    signal(SIGALRM, ring);
    works(setitimer(ITIMER_REAL, &once, NULL), "setitimer");
    want(works(get(1, &soon, &none), "io_pgetevents") == 0, "not 0");
    for (int i = 0; i < 200 && !rang; i++)
        usleep(10000);
    want(rang == SIGALRM, "the signal is lost");
}

CHECK(refuses_a_mask_of_another_size) {
    struct timespec soon = {0, 20000000};
    struct mask small = {&nobody, 4};
    make();
    refuses(get(1, &soon, &small), EINVAL, "a mask of 4 bytes");
}

CHECK(refuses_what_is_no_queue) {
    refuses(get(0, NULL, NULL), EINVAL, "queue 0");
}

CHECK(refuses_a_bad_address) {
    make();
    refuses(get(1, (void *)8, NULL), EFAULT, "a time at 8");
    refuses(get(1, NULL, (void *)8), EFAULT, "a mask at 8");
}

CHECKS
