/* io_pgetevents: asynchronous reads and writes that have ended, under a signal mask. */
#define CAPABILITY "syscall_io_pgetevents"
#include "_runner_c.h"

#include <linux/aio_abi.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static aio_context_t queue;
static struct timespec now, limit = {.tv_sec = 3};
static struct {
    const void *mask;
    size_t size;
} none;

CHECK(tells_what_ended) {
    struct iocb one = {.aio_data = 42,
                       .aio_lio_opcode = IOCB_CMD_PWRITE,
                       .aio_fildes = (uint32_t)file_with("file", ""),
                       .aio_buf = (uintptr_t) "glass",
                       .aio_nbytes = 5};
    struct iocb *list = &one;
    struct io_event event;
    works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    works(syscall(SYS_io_submit, queue, 1, &list), "io_submit");
    want(works(syscall(SYS_io_pgetevents, queue, 1, 1, &event, &limit, &none), "io_pgetevents") ==
             1,
         "not one event");
    want(event.data == 42 && event.res == 5, "another event");
}

static void note(int number) {
    (void)number;
}

CHECK(lets_a_signal_in_that_is_held_back_otherwise) {
    struct io_event event;
    unsigned long long nothing = 0;
    struct {
        const void *mask;
        size_t size;
    } open = {&nothing, sizeof nothing};
    sigset_t held;
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = note}, NULL);
    sigemptyset(&held);
    sigaddset(&held, SIGUSR1);
    sigprocmask(SIG_BLOCK, &held, NULL);
    works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    raise(SIGUSR1);
    refuses(syscall(SYS_io_pgetevents, queue, 1, 1, &event, &limit, &open), EINTR, "it");
}

CHECK(refuses_a_mask_of_another_size) {
    struct io_event event;
    unsigned long long nothing = 0;
    struct {
        const void *mask;
        size_t size;
    } wrong = {&nothing, 3};
    works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    refuses(syscall(SYS_io_pgetevents, queue, 0, 1, &event, &now, &wrong), EINVAL, "a mask of 3");
}

CHECK(refuses_what_is_no_queue) {
    struct io_event event;
    refuses(syscall(SYS_io_pgetevents, 0, 0, 1, &event, &now, &none), EINVAL, "of 0");
}

CHECKS
