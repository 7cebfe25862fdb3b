/* The guest's /proc. */
#ifndef WARDIAN_GUEST_PROC_H
#define WARDIAN_GUEST_PROC_H

#include "root_steps.h"

void mount_proc(struct builder *b, int guest);         /* in the reaper */
void fill_proc(const struct plan *plan, int reaper);   /* in the guest-to-be: masks and sysctls */

#endif
