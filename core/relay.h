/* The guest's standard streams. */
#ifndef WARDIAN_RELAY_H
#define WARDIAN_RELAY_H

#include "plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pollfd;

void relay_prepare(struct plan *plan);  /* before the clone: makes the pipes */
void relay_release(void);               /* in the supervisor, after it: drops the guest's ends */
int relay_guest_end(int stream);        /* in the guest: what to dup onto 0, 1, 2 */
void relay_pty(struct plan *plan, int master);
void relay_resize(void);
void relay_restore_terminal(void);
size_t relay_poll(struct pollfd *fds, size_t room);
void relay_step(const struct pollfd *fds, size_t count);
bool relay_drained(void);
void relay_give_up(void);     /* on output of which nothing waits */
void relay_report_held(void); /* what may be a message of the command itself, held back from the caller */
void relay_report_tail(void); /* the last of standard error, if the plan wants it */
uint64_t relay_bytes(int stream);
bool relay_output_exceeded(uint64_t limit);

#endif
