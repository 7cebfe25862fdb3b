/* msgsnd: messages that are queued, and those that are not. */
#define CAPABILITY "syscall_msgsnd"
#include "_runner_c.h"

#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int queue = -1;
static struct message {
    long type;
    char text[64];
} got;

static void make(void) {
    queue = (int)works(msgget(IPC_PRIVATE, 0600), "msgget");
}

/* Remove the queue, and pass a result on. */
static long after(long result) {
    int number = errno;
    msgctl(queue, IPC_RMID, NULL);
    errno = number;
    return result;
}

static long put(long type, const char *text, int flags) {
    struct message one = {.type = type};
    memcpy(one.text, text, strlen(text));
    return syscall(SYS_msgsnd, queue, &one, strlen(text), flags);
}

CHECK(queues_messages_in_order) {
    make();
    long first = put(1, "one", 0), second = put(1, "two", 0);
    long size = msgrcv(queue, &got, sizeof got.text, 0, IPC_NOWAIT);
    want(after(first) == 0 && second == 0, "they were not sent");
    want(size == 3 && memcmp(got.text, "one", 3) == 0 && got.type == 1, "another comes first");
}

CHECK(is_reported_by_the_queue) {
    struct msqid_ds info;
    make();
    put(1, "glass", 0);
    works(after(msgctl(queue, IPC_STAT, &info)), "IPC_STAT");
    want(info.msg_qnum == 1 && info.msg_lspid == getpid(), "%lu messages", info.msg_qnum);
}

CHECK(sends_empty_messages) {
    make();
    long sent = put(5, "", 0), size = after(msgrcv(queue, &got, 64, 0, IPC_NOWAIT));
    want(sent == 0 && size == 0 && got.type == 5, "%ld bytes", size);
}

CHECK(wakes_who_waits) {
    make();
    pid_t child = fork();
    if (child == 0)
        _exit(msgrcv(queue, &got, sizeof got.text, 0, 0) == 5 ? 0 : 1);
    usleep(50000);
    int status, sent = (int)put(1, "glass", 0);
    waitpid(child, &status, 0);
    want(after(sent) == 0 && status == 0, "it was not received");
}

CHECK(refuses_more_than_fits) {
    long sent = 0;
    make();
    for (int i = 0; i < 100000 && sent == 0; i++)
        sent = put(1, "glass glass glass glass glass glass glass glass glass", IPC_NOWAIT);
    refuses(after(sent), EAGAIN, "a full queue");
}

CHECK(refuses_types_below_1) {
    make();
    refuses(put(0, "x", 0), EINVAL, "type 0");
    refuses(after(put(-1, "x", 0)), EINVAL, "type -1");
}

CHECK(refuses_a_size_too_big) {
    make();
    refuses(after(syscall(SYS_msgsnd, queue, &got, 1l << 40, 0)), EINVAL, "2^40 bytes");
}

CHECK(refuses_what_is_no_queue) {
    refuses(put(1, "x", 0), EINVAL, "-1");
}

CHECK(refuses_a_bad_address) {
    make();
    refuses(after(syscall(SYS_msgsnd, queue, (void *)8, 5, 0)), EFAULT, "a message at 8");
}

CHECKS
