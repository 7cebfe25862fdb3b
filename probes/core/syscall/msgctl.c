/* msgctl: what is known of a queue, changed and removed. */
#define CAPABILITY "syscall_msgctl"
#include "_runner_c.h"

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/syscall.h>
#include <unistd.h>

static int queue = -1;
static struct msqid_ds info;

static void make(void) {
    queue = (int)works(msgget(IPC_PRIVATE, 0600), "msgget");
}

static long after(long result) {
    int number = errno;
    syscall(SYS_msgctl, queue, IPC_RMID, NULL);
    errno = number;
    return result;
}

CHECK(reports_what_is_known) {
    struct {
        long type;
        char text[4];
    } one = {1, "abc"};
    make();
    msgsnd(queue, &one, 3, IPC_NOWAIT);
    works(after(syscall(SYS_msgctl, queue, IPC_STAT, &info)), "IPC_STAT");
    want(info.msg_qnum == 1 && info.__msg_cbytes == 3, "%lu messages", info.msg_qnum);
    want(info.msg_perm.cuid == geteuid() && info.msg_qbytes > 0, "another's");
}

CHECK(changes_how_much_it_holds) {
    make();
    syscall(SYS_msgctl, queue, IPC_STAT, &info);
    info.msg_qbytes = 512;
    long changed = syscall(SYS_msgctl, queue, IPC_SET, &info);
    info.msg_qbytes = 0;
    works(after(syscall(SYS_msgctl, queue, IPC_STAT, &info)), "IPC_STAT");
    want(changed == 0 && info.msg_qbytes == 512, "%lu bytes", info.msg_qbytes);
}

CHECK(removes_a_queue) {
    make();
    works(syscall(SYS_msgctl, queue, IPC_RMID, NULL), "IPC_RMID");
    want(syscall(SYS_msgctl, queue, IPC_STAT, &info) == -1, "it is still there");
}

CHECK(reports_the_limits) {
    struct msginfo limits = {0};
    works(syscall(SYS_msgctl, 0, IPC_INFO, &limits), "IPC_INFO");
    want(limits.msgmax > 0 && limits.msgmni > 0, "none");
}

CHECK(refuses_what_is_no_queue) {
    refuses(syscall(SYS_msgctl, -1, IPC_STAT, &info), EINVAL, "-1");
}

CHECK(refuses_unknown_commands) {
    make();
    refuses(after(syscall(SYS_msgctl, queue, 9999, &info)), EINVAL, "command 9999");
}

CHECK(refuses_a_bad_address) {
    make();
    refuses(after(syscall(SYS_msgctl, queue, IPC_STAT, (void *)8)), EFAULT, "an answer at 8");
}

CHECKS
