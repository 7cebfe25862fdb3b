/* A FUSE root that the supervisor answers for, so that it sees lookups of missing names. */
#ifndef WARDIAN_FUSE_ROOT_H
#define WARDIAN_FUSE_ROOT_H

#include "channel.h"
#include "plan.h"

#include <stdbool.h>
#include <stddef.h>

/* An entry of the guest's root: a mount, or a link. */
enum { MAX_TOPS = 24 };
struct top {
    char name[40];
    char link[64]; /* the link's target; empty: it is no link */
    int fd;
};

void fuse_root_prepare(const struct plan *plan);     /* before the clone */

/* In the reaper, for fuse_mount.c. */
bool fuse_root_shape(const struct plan *plan);
struct top *fuse_root_tops(size_t *count);
bool fuse_root_own(size_t top); /* a directory of our own */

/* In the supervisor. */
void fuse_root_hear(enum message_kind kind, const int *fds, size_t count); /* MSG_FUSE_* */
void fuse_root_run(void);   /* the guest runs from here on */
void fuse_root_anew(void);  /* another command starts: sampling begins anew */
int fuse_root_fd(void);     /* to be polled, or -1 */
void fuse_root_answer(void);

#endif
