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
/* Upper bound of what unseen tasks used since the last call, so long ago, on so many processors: no more than
 * all processors of the host were busy. */
uint64_t possible_cpu_us(int64_t interval_us, uint64_t used);

#endif
