/* A living sandbox, outside: the commands that the supervisor has under way. */
#ifndef WARDIAN_COMMANDS_H
#define WARDIAN_COMMANDS_H

#include "channel.h"
#include "limits.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void commands_begin(int ctl); /* to the reaper */
void commands_without_reaper(void); /* its socket is closed */
bool commands_on(void);       /* is this run a living sandbox? */
bool commands_used(void);     /* has it had a command? */
bool commands_known(uint64_t command); /* does its first process live? */

/* What the caller asks for, on its control socket. False: it wants no more. */
bool commands_hear(void);
bool commands_closed(void); /* it said so, rather than went away */
bool commands_take_more(void); /* not while the reaper has not taken what it was sent */
bool commands_wait(void);      /* until it does */

/* What the reaper says of them. */
void commands_message(const struct message *message, const int *fds, size_t count);

/* Their own control sockets. */
size_t commands_poll(struct pollfd *fds, size_t room);
void commands_step(const struct pollfd *fds, size_t count);

int64_t commands_check(int64_t now); /* ends those whose time is up; when to look again, 0: no need */
/* Whoever takes most of what is too much (memory, CPU time); the others go on. False: there is none. */
bool commands_end_largest(int proc, enum limit limit, uint64_t memory_bytes);
void commands_lost(const char *reason, bool unkillable); /* the sandbox has ended, and they with it */
size_t commands_running(void);
int64_t commands_began_us(uint64_t command);
void commands_status(uint64_t command); /* what is emitted from here on is about this one */

#endif
