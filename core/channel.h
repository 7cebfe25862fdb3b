/* The private socket between supervisor, reaper and guest: messages, descriptors included. */
#ifndef WARDIAN_CHANNEL_H
#define WARDIAN_CHANNEL_H

#include "fail.h"
#include "left_running.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MAX_PASSED = 24 };

enum message_kind {
    MSG_GO,
    MSG_SOURCES,
    MSG_NOT_COPIED,
    MSG_FAILURE,
    MSG_FUSE_DEVICE,
    MSG_FUSE_BUILT,
    MSG_PROC,
    MSG_FUSE_TOPS,
    MSG_PTY,
    MSG_READY,
    MSG_EXEC_FAILED,
    MSG_LEFT_RUNNING,
    MSG_EXITED
};
struct message {
    enum message_kind kind;
    union {
        struct failure failure;
        struct left_running left;
        int error;
        struct {
            bool more;
            uint16_t count, steps[MAX_PASSED]; /* which, in the order of the descriptors */
        } sources;
        struct {
            bool listens; /* the first descriptor is the filter's listener */
        } ready;
        struct {
            int status;
            uint64_t tasks;
        } exited;
    };
};
void channel_pair(int ends[2]);
void channel_send(int fd, const struct message *message, const int *fds, size_t fd_count);
/* Returns false at end of file. `sender` is in the receiver's pid namespace. */
bool channel_receive(int fd, struct message *message, int *fds, size_t *fd_count, pid_t *sender);

/* Two processes that wait for each other: a message says "go on", and may carry a descriptor; the
 * end of file says "give up". */
void give_turn(int fd, int passed);
int wait_for_turn(int fd);

#endif
