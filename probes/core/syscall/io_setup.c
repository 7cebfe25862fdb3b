/* io_setup: queues for asynchronous reads and writes. */
#define CAPABILITY "syscall_io_setup"
#include "_runner_c.h"

#include <linux/aio_abi.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long setup(unsigned count, aio_context_t *context) {
    return syscall(SYS_io_setup, count, context);
}

CHECK(makes_a_queue_that_does_work) {
    aio_context_t context = 0;
    char bytes[5];
    struct io_event event;
    int fd = (int)works(memfd_create("aio", 0), "memfd_create");
    works(write(fd, "glass", 5), "write");
    struct iocb read_it = {.aio_lio_opcode = IOCB_CMD_PREAD, .aio_fildes = (unsigned)fd,
                           .aio_buf = (unsigned long)bytes, .aio_nbytes = 5};
    struct iocb *list[1] = {&read_it};
    works(setup(1, &context), "io_setup");
    want(works(syscall(SYS_io_submit, context, 1, list), "io_submit") == 1, "not one");
    want(syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1 && event.res == 5, "no work");
}

CHECK(makes_several_queues) {
    aio_context_t one = 0, other = 0;
    works(setup(1, &one), "io_setup");
    works(setup(1, &other), "io_setup");
    want(one && other && one != other, "the same queue");
}

CHECK(is_not_inherited_by_children) {
    aio_context_t context = 0;
    int status;
    works(setup(1, &context), "io_setup");
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0)
        _exit(syscall(SYS_io_destroy, context) == -1 && errno == EINVAL ? 0 : 1);
    waitpid(child, &status, 0);
    want(status == 0, "a child can use it");
}

CHECK(refuses_a_queue_of_nothing) {
    aio_context_t context = 0;
    refuses(setup(0, &context), EINVAL, "0 places");
}

CHECK(refuses_a_number_that_is_set_already) {
    aio_context_t context = 1;
    refuses(setup(1, &context), EINVAL, "a number that is not 0");
}

CHECK(refuses_more_than_there_can_be) {
    aio_context_t context = 0;
    long result = setup(0x7fffffff, &context);
    want(result == -1 && (errno == EAGAIN || errno == EINVAL || errno == ENOMEM), "2^31-1 places");
}

CHECK(refuses_a_bad_address) {
    refuses(setup(1, (void *)8), EFAULT, "an answer at 8");
}

CHECKS
