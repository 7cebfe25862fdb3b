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
void sight_attach(int root, int proc); /* the guest's private files, and its /proc */
void sight_asker(pid_t task); /* whose /proc/self is meant from here on */
/* False if it can't be told. `resolved`, of PATH_MAX bytes or NULL: the same path, or where links
 * on the way to something missing lead. */
bool sight_look(const char *path, bool follow, struct sight *sight, char *resolved);
bool sight_empty(const char *path); /* a directory that can be removed, as far as we may look */
void sight_changed(bool files_only); /* what was seen may be so no longer; directories are where they were */

#endif
