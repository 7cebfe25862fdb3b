/* The program that the guest becomes. */
#ifndef WARDIAN_PROGRAM_H
#define WARDIAN_PROGRAM_H

#include "plan.h"

#include <stdbool.h>
#include <stdint.h>

int become_program(const struct plan *plan); /* returns only an error */

/* In the upper half of execve's fourth register, which the kernel does not read: then the low half is the
 * entry of PATH that the launcher tries. Read only until the guest has become its program; nothing that a
 * guest can put into a register hides a call. */
#define TRIED (0x77617264ULL << 32)
bool program_tried(const struct plan *plan, uint64_t mark, char *path); /* by that register */

#endif
