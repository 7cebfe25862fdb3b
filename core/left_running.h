/* Processes still running when the command has ended, which end with it. */
#ifndef WARDIAN_LEFT_RUNNING_H
#define WARDIAN_LEFT_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct left_running {
    bool asked;           /* asked for by the caller, of a running command */
    uint32_t count;       /* at least; the total, where no process is described */
    uint32_t pid;         /* pid inside */
    uint32_t command_len; /* 0: no process is described */
    char command[256];    /* words that end in NUL, as in /proc; the guest may have written anything there */
    char listening[160];  /* addresses as in /proc/net/tcp, separated by spaces; or "" */
};

/* In the reaper, once the command has ended: reports processes that do not end by themselves at once to the
 * supervisor. */
void left_running_send(int ctl);

/* In the reaper of a living sandbox: reports the processes of one command, of which `count` live on when it
 * has ended; and those of a running command, where the caller asks. */
void left_running_of(int ctl, uint64_t command, size_t count);
void left_running_asked(int ctl, uint64_t command);

/* A reader for a caller that asked runs beside the reaper: was this pid one of them; are there any? */
void left_running_reaped(pid_t pid);
bool left_running_reads(void);

/* Is a process with this /proc/PID/stat still running? */
bool stat_runs(const char *stat);

/* In the supervisor: passes it on to the caller. */
void left_running_report(const struct left_running *left);

#endif
