/* One command of a living sandbox: what it is, as records. */
#ifndef WARDIAN_COMMAND_H
#define WARDIAN_COMMAND_H

#include "plan.h"
#include "program.h"

/* In the command's first process: its arguments, variables, directory and PATH, into a plan's places. */
void command_read(struct plan *plan, int fd);

#endif
