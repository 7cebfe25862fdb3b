/* msgrcv: messages by order, by type, in part, waited for. */
#define CAPABILITY "syscall_msgrcv"
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

static void put(long type, const char *text) {
    struct message one = {.type = type};
    memcpy(one.text, text, strlen(text));
    msgsnd(queue, &one, strlen(text), IPC_NOWAIT);
}

static long get(long type, size_t room, int flags) {
    return syscall(SYS_msgrcv, queue, &got, room, type, flags | IPC_NOWAIT);
}

/* A queue with three messages. */
static void make_three(void) {
    make();
    put(3, "three");
    put(1, "one");
    put(2, "two");
}

CHECK(gives_the_oldest) {
    make_three();
    want(after(get(0, 64, 0)) == 5 && got.type == 3 && !memcmp(got.text, "three", 5), "another");
}

CHECK(gives_the_type_asked_for) {
    make_three();
    want(after(get(2, 64, 0)) == 3 && got.type == 2 && !memcmp(got.text, "two", 3), "another");
}

CHECK(gives_the_lowest_type_up_to_one) {
    make_three();
    want(after(get(-2, 64, 0)) == 3 && got.type == 1, "type %ld", got.type);
}

CHECK(gives_any_type_but_one) {
    make_three();
    want(after(get(3, 64, MSG_EXCEPT)) == 3 && got.type == 1, "type %ld", got.type);
}

CHECK(takes_the_message_away) {
    struct msqid_ds info;
    make_three();
    get(0, 64, 0);
    works(after(msgctl(queue, IPC_STAT, &info)), "IPC_STAT");
    want(info.msg_qnum == 2 && info.msg_lrpid == getpid(), "%lu messages", info.msg_qnum);
}

CHECK(cuts_a_long_message_if_asked) {
    make_three();
    want(after(get(0, 2, MSG_NOERROR)) == 2 && !memcmp(got.text, "th", 2), "not two bytes");
}

CHECK(refuses_a_message_too_long) {
    make_three();
    refuses(after(get(0, 2, 0)), E2BIG, "5 bytes into 2");
}

CHECK(refuses_to_wait_where_it_must_not) {
    make();
    refuses(after(get(0, 64, 0)), ENOMSG, "an empty queue");
}

CHECK(waits_for_a_message) {
    make();
    pid_t child = fork();
    if (child == 0) {
        usleep(50000);
        put(7, "glass");
        _exit(0);
    }
    long size = syscall(SYS_msgrcv, queue, &got, sizeof got.text, 0, 0);
    waitpid(child, NULL, 0);
    want(after(size) == 5 && got.type == 7, "%ld bytes", size);
}

CHECK(ends_when_the_queue_is_removed) {
    int status;
    make();
    pid_t child = fork();
    if (child == 0) {
        /* EINVAL: the queue went before the wait began. */
        long size = syscall(SYS_msgrcv, queue, &got, sizeof got.text, 0, 0);
        _exit(size == -1 && (errno == EIDRM || errno == EINVAL) ? 0 : 1);
    }
    usleep(200000);
    after(0);
    waitpid(child, &status, 0);
    want(status == 0, "the waiting process did not get EIDRM");
}

CHECK(refuses_what_is_no_queue) {
    refuses(get(0, 64, 0), EINVAL, "-1");
}

CHECK(refuses_a_bad_address) {
    make_three();
    refuses(after(syscall(SYS_msgrcv, queue, (void *)8, 64, 0, 0)), EFAULT, "to address 8");
}

CHECKS
