/* The guest, until it becomes its program. */
#ifndef WARDIAN_GUEST_H
#define WARDIAN_GUEST_H

#include "plan.h"

#include <stdbool.h>
#include <stdint.h>

_Noreturn void guest_main(struct plan *plan, int ctl, int reaper);
void hand_streams(const struct plan *plan, int guest, int ctl); /* in the reaper, in the new root */

/* In the upper half of execve's fourth register, which the kernel does not read: what follows is the
 * place in PATH that the launcher tries. Read only until the guest has become its program; nothing
 * that a guest can put into a register hides a call. */
#define TRIED (0x77617264ULL << 32)
bool guest_program(const struct plan *plan, uint64_t mark, char *path); /* what it tries to become */

#endif
