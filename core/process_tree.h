/* All processes below one. They can leave a session and a process group, but not the tree: orphans
 * become children of the nearest subreaper, which the reaper and the supervisor are. */
#ifndef WARDIAN_PROCESS_TREE_H
#define WARDIAN_PROCESS_TREE_H

#include "directory.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

void tree_watch(pid_t top);
bool tree_watched(void);
uint64_t tree_tasks(void);  /* how many below the top, threads included */
bool tree_has(pid_t process); /* below the top, by its parents */
void each_process(int proc, visit *each, void *context); /* of the guest's: below the top, or in its /proc */
void tree_kill(void);            /* everything below this process */
bool tree_end(int64_t until_us); /* the same until none is left; false if one is */

#endif
