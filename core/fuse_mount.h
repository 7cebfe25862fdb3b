/* The root that the supervisor answers for, in the processes that build it. Where there is none, each of
 * these does nothing and says no. */
#ifndef WARDIAN_FUSE_MOUNT_H
#define WARDIAN_FUSE_MOUNT_H

#include "plan.h"

#include <stdbool.h>

void fuse_mount_open(const struct plan *plan); /* in the reaper, while it still may */
void fuse_mount_forget(void);                  /* in the guest-to-be: it is the reaper's */
/* Over the private files, which are at `place`; the new root, or else those files. */
int fuse_mount_place(const struct plan *plan, int files, const char *place, int ctl);
bool fuse_mount_takes(const struct step *step); /* it stands in the root already, made by the line above */
bool fuse_mount_holds(const char *path);        /* something of that path's name does */
int fuse_mount_start(const char **path); /* a directory of ours that it leads through, and the rest; or -1 */
void fuse_mount_hand_over(int ctl);
void fuse_mount_seal(void); /* read-only, but for what the guest may write to */
void fuse_mount_close(void);
void fuse_mount_built(const struct plan *plan, int ctl); /* in the guest-to-be: all it does there is done */

#endif
