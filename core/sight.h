/* What lies at a path in the guest's root. */
#ifndef WARDIAN_SIGHT_H
#define WARDIAN_SIGHT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/limits.h>

struct sight {
    bool there, directory, link, read_only, masked;
    uint16_t mode; /* as stat says; 0: not known */
    uid_t owner;
    bool ours;   /* it, or else the deepest directory above it, is no share */
    bool parent; /* it is not there, but could be made */
};
void sight_attach(int root, int proc); /* sets the guest's private files, and its /proc */
void sight_asker(pid_t task); /* the process whose /proc/self is meant from here on */
/* False if it is unknown. `resolved`, of PATH_MAX bytes or NULL: the path with its links resolved, up to the
 * missing part. */
bool sight_look(const char *path, bool follow, struct sight *sight, char *resolved);
bool sight_empty(const char *path); /* a directory that can be removed, as far as we can see */
void sight_changed(bool files_only); /* cached looks are stale; directories did not move */

#endif
