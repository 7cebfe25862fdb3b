/* Who made a call. */
#ifndef WARDIAN_PROCESSES_H
#define WARDIAN_PROCESSES_H

#include <stdbool.h>
#include <sys/types.h>

void processes_begin(pid_t guest);
int process_of(pid_t task); /* a number in processes_report's list, or -1 */
bool process_announce(int number); /* report it now, and those above it; false: there is none */
void processes_report(void);
void processes_forget(void); /* nothing refers to them any more */

#endif
