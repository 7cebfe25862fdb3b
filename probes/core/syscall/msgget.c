/* msgget: message queues by a key or for itself. */
#define CAPABILITY "syscall_msgget"
#include "_runner_c.h"

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEY (0x57000000 | getpid())

static long made = -1;

static void make(void) {
    made = works(syscall(SYS_msgget, KEY, IPC_CREAT | IPC_EXCL | 0600), "msgget");
}

/* Remove what was made, and pass a result on. */
static long after(long result) {
    int number = errno;
    msgctl((int)made, IPC_RMID, NULL);
    errno = number;
    return result;
}

CHECK(makes_an_empty_queue) {
    struct msqid_ds info;
    make();
    works(after(msgctl((int)made, IPC_STAT, &info)), "IPC_STAT");
    want(info.msg_qnum == 0 && (info.msg_perm.mode & 0777) == 0600, "another one");
}

CHECK(finds_a_queue_by_its_key) {
    make();
    want(after(syscall(SYS_msgget, KEY, 0)) == made, "another one");
}

CHECK(makes_another_one_each_time_without_a_key) {
    long one = syscall(SYS_msgget, IPC_PRIVATE, 0600);
    made = syscall(SYS_msgget, IPC_PRIVATE, 0600);
    msgctl((int)one, IPC_RMID, NULL);
    want(after(one) >= 0 && made >= 0 && one != made, "%ld and %ld", one, made);
}

CHECK(refuses_to_make_what_is_there_already) {
    make();
    refuses(after(syscall(SYS_msgget, KEY, IPC_CREAT | IPC_EXCL)), EEXIST, "IPC_EXCL");
}

CHECK(refuses_a_key_that_nobody_has) {
    refuses(syscall(SYS_msgget, KEY, 0), ENOENT, "no such key");
}

CHECKS
