/* userfaultfd: a page that a thread touches, filled by another. */
#define CAPABILITY "syscall_userfaultfd"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static void *touch(void *at) {
    return (void *)(long)*(volatile char *)at;
}

CHECK(lets_a_program_fill_a_page) {
    struct uffdio_api api = {.api = UFFD_API};
    struct uffd_msg message;
    pthread_t thread;
    void *got;
    int fd = (int)works(syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY), "userfaultfd");
    char *at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    works(ioctl(fd, UFFDIO_API, &api), "UFFDIO_API");
    struct uffdio_register range = {.range = {(unsigned long)at, PAGE},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    works(ioctl(fd, UFFDIO_REGISTER, &range), "UFFDIO_REGISTER");
    at[PAGE] = 42;
    want(pthread_create(&thread, NULL, touch, at) == 0, "no thread");
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    want(poll(&ready, 1, 3000) == 1, "nobody asks");
    works(read(fd, &message, sizeof message), "read");
    want(message.event == UFFD_EVENT_PAGEFAULT, "another event");
    struct uffdio_copy fill = {
        .dst = (unsigned long)at, .src = (unsigned long)at + PAGE, .len = PAGE};
    works(ioctl(fd, UFFDIO_COPY, &fill), "UFFDIO_COPY");
    pthread_join(thread, &got);
    want((long)got == 42, "the thread read %ld", (long)got);
}

CHECK(sets_the_flags_asked_for) {
    int flags = UFFD_USER_MODE_ONLY | O_CLOEXEC | O_NONBLOCK;
    int fd = (int)works(syscall(SYS_userfaultfd, flags), "userfaultfd");
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC && fcntl(fd, F_GETFL) & O_NONBLOCK, "not set");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY | 0x100), EINVAL, "flag 0x100");
}

CHECKS
