/* A living sandbox, outside: the commands that the supervisor has running. */
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

/* Requests of the caller on its control socket. False: it has no more. */
bool commands_hear(void);
bool commands_closed(void); /* the caller ended it, rather than went away */
bool commands_take_more(void); /* whether to poll: not while the reaper has messages to take */
bool commands_wait(void);      /* until it does */

/* Messages from the reaper about commands. */
void commands_message(const struct message *message, const int *fds, size_t count);

/* Their own control sockets. */
size_t commands_poll(struct pollfd *fds, size_t room);
void commands_step(const struct pollfd *fds, size_t count);

int64_t commands_check(int64_t now); /* ends those whose time is up; when to look again, 0: no need */
/* Ends the command that uses most of what ran out (memory, CPU time); the others go on. False: there is none. */
bool commands_end_largest(int proc, enum limit limit, uint64_t memory_bytes);
void commands_lost(const char *reason, bool unkillable); /* the sandbox has ended, and its commands with it */
size_t commands_running(void);
int64_t commands_began_us(uint64_t command);
void commands_status(uint64_t command); /* status lines from here on are about this command */

#endif
