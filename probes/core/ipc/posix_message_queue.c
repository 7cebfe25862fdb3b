/* Processes can send messages through a queue with a name (mq_open). */
#define CAPABILITY "ipc_posix_message_queue"
#include "_runner_c.h"

#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <unistd.h>

static void exercise(void) {
    char name[64], text[16];
    struct mq_attr small = {.mq_maxmsg = 1, .mq_msgsize = sizeof text};
    snprintf(name, sizeof name, "/wardian-probe-%d", (int)getpid());
    mqd_t queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &small);
    if (queue < 0)
        blocked("mq_open");
    mq_unlink(name);
    if (mq_send(queue, "x", 1, 0) < 0 || mq_receive(queue, text, sizeof text, NULL) != 1)
        blocked("mq_send, mq_receive");
    allowed("sent and received a message");
}

PROBE(exercise)
