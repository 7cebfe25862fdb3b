/* CPU time of processes that nobody waited for. */
#ifndef WARDIAN_CPU_CLOCK_H
#define WARDIAN_CPU_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

bool cpu_clock_attach(pid_t reaper, bool *lost); /* to all that runs now; lost: something could not be */
void cpu_clock_detach(void);
bool cpu_clock_running(void);
uint64_t cpu_clock_us(void);

#endif
