/* Limits for a whole tree of processes that the kernel does not enforce itself. */
#ifndef WARDIAN_LIMITS_H
#define WARDIAN_LIMITS_H

#include "plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum limit { LIMIT_NONE, LIMIT_TIME, LIMIT_CPU, LIMIT_MEMORY, LIMIT_OUTPUT, LIMIT_DISK };

/* What the guest's use is measured through. */
struct guest_views {
    int proc;    /* the guest's /proc */
    int root;    /* its private tmpfs */
    int sysvipc[3]; /* shm, sem and msg of its ipc namespace */
};

void limits_start(const struct plan *plan, pid_t reaper);
void limits_attach(const struct guest_views *views);
bool limits_alone(void); /* at the last look, only the reaper was left */
void limits_cpu_anew(void); /* in a living sandbox: CPU time used so far no longer counts */
void limits_command_started(bool first);
int limits_proc(void); /* the guest's /proc, or -1 */
enum limit limits_check(const struct plan *plan, int *next_ms);
int64_t limits_next_us(int64_t looked_at, int next_ms); /* when to look again */
bool limits_had_process(uint32_t pid); /* by its number inside; perhaps it did */
bool limits_files_full(const struct plan *plan, pid_t task);
bool limits_space_full(void); /* of the private files */
uint64_t limits_mapped(pid_t task);
bool limits_maps_too_much(const struct plan *plan, uint64_t total);
uint64_t limits_peak_bytes(void);
uint64_t limits_processes(void); /* how many were seen below a tree's top */
uint64_t limits_cpu_us(void);

#endif
