/* Which command of a living sandbox a process belongs to. */
#ifndef WARDIAN_TAGS_H
#define WARDIAN_TAGS_H

#include "plan.h"

#include <stdint.h>
#include <sys/types.h>

/* In a command's first process, before it becomes its program: marks this process and all its descendants as
 * the command's, whatever they do. */
void tag_self(const struct plan *plan, uint64_t command);

uint64_t tag_of(pid_t task);                      /* of a task as call.h names it; 0: of no command */
uint64_t tag_below(int proc, const char *pid);    /* the same, through a /proc */

#endif
