/* The FUSE root, in the processes that build it. Without one, each of these functions does nothing and
 * returns false or -1. */
#ifndef WARDIAN_FUSE_MOUNT_H
#define WARDIAN_FUSE_MOUNT_H

#include "plan.h"

#include <stdbool.h>

void fuse_mount_open(const struct plan *plan); /* in the reaper, while it still has the capability */
void fuse_mount_forget(void);                  /* in the guest-to-be: the reaper keeps it */
/* Mounts it over the private files at `place`; returns the new root, or else the private files. */
int fuse_mount_place(const struct plan *plan, int files, const char *place, int ctl);
bool fuse_mount_takes(const struct step *step); /* already there, made by fuse_place */
bool fuse_mount_holds(const char *path);        /* something of that path's name does */
int fuse_mount_start(const char **path); /* a directory of ours that it leads through, and the rest; or -1 */
void fuse_mount_hand_over(int ctl);
void fuse_mount_seal(void); /* read-only, but for what the guest may write to */
void fuse_mount_close(void);
void fuse_mount_built(const struct plan *plan, int ctl); /* in the guest-to-be: its work in the root is done */

#endif
