/* The kernel's own counters for the whole run, where the caller may make a control group. */
#ifndef WARDIAN_CGROUP_H
#define WARDIAN_CGROUP_H

#include "plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

void cgroup_prepare(const struct plan *plan);       /* before the clone */
int cgroup_birthplace(void);                        /* to clone into, or -1 */
void cgroup_move(pid_t child);                      /* moves into the same, where clone can't */
void cgroup_make(const struct plan *plan, int ctl); /* after it */
void cgroup_enter(const struct plan *plan, int ctl); /* in the guest-to-be */
int cgroup_version(void);                            /* 0: there is none */
bool cgroup_cpu_us(uint64_t *us);
bool cgroup_memory(uint64_t *bytes);
uint64_t cgroup_network(uint64_t listed); /* not in the other count */
uint64_t cgroup_kills(void);     /* processes that the kernel killed for memory */
bool cgroup_out_of_memory(void); /* was there one */
void cgroup_forgive(void);       /* counts from here on */
bool cgroup_met_limit(void);
bool cgroup_thrashes(uint64_t limit, uint64_t bytes);
void cgroup_kill(void);
void cgroup_sweep(void);
void cgroup_remove(void);

#endif
