/* The processes that still run when the command has ended, and end with it. */
#ifndef WARDIAN_LEFT_RUNNING_H
#define WARDIAN_LEFT_RUNNING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct left_running {
    bool asked;           /* by the caller, of a command that runs */
    uint32_t count;       /* so many at least; of all, where no process is described */
    uint32_t pid;         /* as the guest knows it */
    uint32_t command_len; /* 0: no process is described */
    char command[256];    /* words that end in NUL, as in /proc; the guest may have written anything there */
    char listening[160];  /* addresses as in /proc/net/tcp, separated by spaces; or "" */
};

/* In the reaper, once the command has ended: those that do not end by themselves at once, to the supervisor. */
void left_running_send(int ctl);

/* In the reaper of a living sandbox: the processes of one command, which live on. `asked`: by the caller,
 * while the command runs. */
void left_running_of(int ctl, uint64_t command, bool asked);

/* What reads for a caller that asked runs beside the reaper: one of those may have been reaped; are there some? */
void left_running_reaped(pid_t pid);
bool left_running_reads(void);

/* Does a process with this /proc/PID/stat still do anything? */
bool stat_runs(const char *stat);

/* In the supervisor: on to the caller. */
void left_running_report(const struct left_running *left);

#endif
