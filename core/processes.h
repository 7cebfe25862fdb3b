/* Who made a call. */
#ifndef WARDIAN_PROCESSES_H
#define WARDIAN_PROCESSES_H

#include <sys/types.h>

void processes_begin(pid_t guest);
int process_of(pid_t task); /* a number in processes_report's list, or -1 */
void processes_report(void);

#endif
