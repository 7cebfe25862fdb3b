/* Processes can send messages through a queue by key (msgget). */
#define CAPABILITY "ipc_sysv_message_queue"
#include "_runner_c.h"

#include <sys/msg.h>

static void exercise(void) {
    struct {
        long kind;
        char text[4];
    } sent = {1, "abc"}, got = {0};
    int id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    if (id < 0)
        blocked("msgget");
    int result = msgsnd(id, &sent, 4, IPC_NOWAIT), number = errno;
    long length = msgrcv(id, &got, 4, 1, IPC_NOWAIT);
    msgctl(id, IPC_RMID, NULL);
    if (result < 0)
        blocked_with(number, "msgsnd");
    if (length != 4)
        faulty("the message did not come");
    allowed("sent and received a message");
}

PROBE(exercise)
