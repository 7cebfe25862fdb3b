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
    MSG_EXITED,
    MSG_CONNECT,   /* a confined guest's socket: connecting.h */
    MSG_CONNECTED, /* or not: with the error */
    /* In a living sandbox (commands.h, place.h): what the supervisor asks of the reaper. */
    MSG_START,     /* a command: its records, and the streams that it has */
    MSG_END,       /* a command and all its processes */
    MSG_SIGNAL,    /* to a command */
    MSG_LISTENING, /* a command's processes, and where they listen */
    MSG_SOCKET,    /* in the guest's network; answered with it */
    MSG_DIRECTORY  /* of the guest's own; the same */
};
struct message {
    enum message_kind kind;
    uint64_t command; /* in a living sandbox: which; 0: none */
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
            uint64_t user_us, system_us, peak_bytes; /* of a command in a living sandbox */
        } exited;
        struct {
            uint8_t streams; /* bit i: descriptor i is passed, in this order after the records */
            bool pty;
            uint16_t rows, columns;
        } start;
        int number; /* a signal, or a family of addresses */
        char path[64];
        struct {
            uint64_t id; /* of the call that waits */
            int error;
            uint16_t len;
            char address[128]; /* as long as any can be, socket(7) */
        } connect;
    };
};
void channel_pair(int ends[2]);
void channel_send(int fd, const struct message *message, const int *fds, size_t fd_count);
bool channel_pass(int fd, char what, const int *fds, size_t fd_count); /* one byte; false: nobody takes it */
bool channel_has_room(int fd); /* would a message be taken at once? */
/* Returns false at end of file. `sender` is in the receiver's pid namespace. */
bool channel_receive(int fd, struct message *message, int *fds, size_t *fd_count, pid_t *sender);

/* Two processes that wait for each other: a message says "go on", and may carry a descriptor; the
 * end of file says "give up". */
void give_turn(int fd, int passed);
int wait_for_turn(int fd);

#endif
