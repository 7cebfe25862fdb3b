/* The guest's tasks, as /proc shows them. A task is named by its id out here, or by minus its id inside. */
#ifndef WARDIAN_TASKS_H
#define WARDIAN_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

void tasks_attach(int proc); /* the guest's own */
int task_open(pid_t task, const char *name, int flags); /* a file of the task's in /proc */
ssize_t task_read(pid_t task, const char *name, char *to, size_t size); /* the same, as a string */
ssize_t task_link(pid_t task, const char *name, char *to, size_t size); /* where a link there leads */
ssize_t task_bytes(pid_t task, uint64_t address, void *to, size_t size);
bool task_string(pid_t task, uint64_t address, char *to, size_t size);

uint64_t tasks_missed(void); /* how many reads the kernel could do, and we could not */
void tasks_note_missed(void);
void tasks_forget_missed(uint64_t before);

#endif
