/* A system call of the guest's, and how the supervisor inspects one that it allows. */
#ifndef WARDIAN_CALL_H
#define WARDIAN_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A task is identified by its pid outside, or by minus its pid inside. */
struct call {
    pid_t task;
    int number;
    uint64_t args[6];
};

enum { MAX_SYSCALL = 1024 };

/* What an inspected call does. */
enum watch_kind {
    WATCH_NOT,
    WATCH_LOOK, /* needs the path to exist */
    WATCH_OPEN, /* its flags decide what it needs */
    WATCH_CHANGE,
    WATCH_REMOVE,
    WATCH_MAKE,
    WATCH_MOVE, /* removes the path, makes the other */
    WATCH_LINK, /* looks at the path, makes the other */
    WATCH_EXEC,
    WATCH_CONNECT,
    WATCH_BIND,     /* creates its address, if that is a path */
    WATCH_SEND,     /* sendto */
    WATCH_MESSAGES, /* sendmsg, sendmmsg */
    WATCH_SIGNAL,
    WATCH_FORK,
    WATCH_MAP, /* much memory at once */
    WATCH_EXIT,
    WATCH_OTHER, /* only counted */
    WATCH_KINDS
};

/* Which of its arguments hold paths and flags; -1: none. */
struct watched {
    uint8_t kind;
    int8_t dir, path, other_dir, other, flags, access;
    bool nofollow;        /* it means a link itself */
    bool link, directory; /* its path is one, or has to be */
};

#endif
