/* The steps that fill the guest's root, by kind. */
#ifndef WARDIAN_ROOT_STEPS_H
#define WARDIAN_ROOT_STEPS_H

#include "fuse_root.h"
#include "plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct builder {
    struct plan *plan;
    int ctl;      /* to the supervisor */
    int root;     /* the new root */
    int files;    /* a tmpfs that holds all private files: the new root, or mounted on it */
    dev_t device; /* its number */
    int proc;     /* the new /proc, or -1 */
    int writable_proc; /* the same below it, never read-only: for the supervisor */
    int hidden;   /* a directory of the private files that it covers, or -1 */
    int spares[MAX_TOPS + 1]; /* directories that have an empty file to link places from */
    size_t spare_count;
    struct parent { /* of the last step; the next one often has the same */
        char path[128]; /* up to its last slash, which it includes */
        size_t len;     /* 0: it is too long */
        int fd;         /* -1: there is none */
        bool ours; /* on our own tmpfs */
    } parent;
};

void run_step(struct builder *b, struct step *step);
void remove_spares(const struct builder *b);

/* The parent of a target below the new root; makes plain directories on the way. The descriptor belongs to
 * the builder: not to be closed, and valid until the next call or until something is mounted on the way
 * there. */
int parent_of(struct builder *b, const char *whole, const char **name);

#endif
