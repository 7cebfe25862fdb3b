/* A root that the supervisor answers for, so that it sees lookups of what is not there. */
#ifndef WARDIAN_FUSE_ROOT_H
#define WARDIAN_FUSE_ROOT_H

#include "plan.h"

#include <stdbool.h>
#include <stddef.h>

/* What stands in the guest's root: a mount, or a link. */
enum { MAX_TOPS = 24 };
struct top {
    char name[40];
    char link[64]; /* where it leads; empty: it is no link */
    int fd;
};

void fuse_root_prepare(const struct plan *plan);     /* before the clone */
bool fuse_root_shape(const struct plan *plan);       /* in the reaper */
struct top *fuse_root_tops(size_t *count);
bool fuse_root_own(size_t top);                      /* a directory of our own making */
void fuse_root_serve(int device);                    /* in the supervisor */
void fuse_root_see(const int *fds, size_t count);
void fuse_root_expire(void);
void fuse_root_run(void);
int fuse_root_fd(void);
void fuse_root_answer(void);

#endif
