/* mq_open: message queues that have a name. */
#define CAPABILITY "syscall_mq_open"
#include "_runner_c.h"

#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char name[64];

static long make(int flags, struct mq_attr *attributes) {
    snprintf(name, sizeof name, "wardian-probe-%d", (int)getpid());
    return syscall(SYS_mq_open, name, O_RDWR | flags, 0600, attributes);
}

static long after(long result) {
    int number = errno;
    syscall(SYS_mq_unlink, name);
    errno = number;
    return result;
}

CHECK(makes_a_queue_as_it_is_asked) {
    struct mq_attr small = {.mq_maxmsg = 3, .mq_msgsize = 40}, got = {0};
    int queue = (int)works(after(make(O_CREAT | O_EXCL, &small)), "mq_open");
    works(syscall(SYS_mq_getsetattr, queue, NULL, &got), "mq_getsetattr");
    want(got.mq_maxmsg == 3 && got.mq_msgsize == 40 && got.mq_curmsgs == 0, "another one");
}

CHECK(opens_a_queue_that_is_there) {
    char text[40] = "";
    struct mq_attr small = {.mq_maxmsg = 3, .mq_msgsize = 40};
    int one = (int)works(make(O_CREAT | O_EXCL, &small), "mq_open");
    int other = (int)works(after(make(0, NULL)), "mq_open again");
    works(mq_send(one, "glass", 5, 0), "mq_send");
    want(mq_receive(other, text, 40, NULL) == 5 && !strcmp(text, "glass"), "another queue");
}

CHECK(closes_on_exec) {
    int queue = (int)works(after(make(O_CREAT | O_EXCL | O_CLOEXEC, NULL)), "mq_open");
    want(fcntl(queue, F_GETFD) == FD_CLOEXEC, "it does not");
}

CHECK(refuses_to_make_what_is_there_already) {
    works(make(O_CREAT | O_EXCL, NULL), "mq_open");
    refuses(after(make(O_CREAT | O_EXCL, NULL)), EEXIST, "O_EXCL");
}

CHECK(refuses_a_name_that_nobody_has) {
    refuses(syscall(SYS_mq_open, "wardian-no-such-queue", O_RDWR, 0, NULL), ENOENT, "no queue");
}

CHECK(refuses_a_queue_that_holds_nothing) {
    struct mq_attr none = {.mq_maxmsg = 0, .mq_msgsize = 0};
    refuses(after(make(O_CREAT | O_EXCL, &none)), EINVAL, "0 messages of 0 bytes");
}

CHECK(refuses_a_name_with_a_slash) {
    refuses(syscall(SYS_mq_open, "a/b", O_RDWR, 0, NULL), EACCES, "a/b");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_mq_open, (void *)8, O_RDWR, 0, NULL), EFAULT, "a name at 8");
}

CHECKS
