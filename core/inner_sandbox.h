/* Another sandbox's first process, between its walls and its command. */
#ifndef WARDIAN_INNER_SANDBOX_H
#define WARDIAN_INNER_SANDBOX_H

#include "plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

void inner_prepare(const struct plan *plan);
void inner_give(void);    /* in the command-to-be: its ends as FD_JSON_STATUS and FD_BLOCK */
void inner_release(void); /* in the supervisor */
int inner_brake(void);    /* while this is open, the first process inside waits */
int inner_fd(void);
void inner_hear(void);
bool inner_waits(void);
bool inner_let_go(const struct plan *plan); /* true once: its limits are set, its command starts */
pid_t inner_command(void);                  /* 0: there is none */
uint64_t inner_bytes(void);
uint64_t inner_files(void);
void inner_report(void);

#endif
