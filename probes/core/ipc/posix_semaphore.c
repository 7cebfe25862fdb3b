/* Processes can share a semaphore by name (sem_open). */
#define CAPABILITY "ipc_posix_semaphore"
#include "_runner_c.h"

#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static void exercise(void) {
    char name[64];
    snprintf(name, sizeof name, "/wardian-probe-%d", (int)getpid());
    sem_t *semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
    if (semaphore == SEM_FAILED)
        blocked("sem_open");
    sem_unlink(name);
    if (sem_trywait(semaphore) < 0 || sem_trywait(semaphore) == 0)
        faulty("the semaphore does not count");
    allowed("made, took and removed a semaphore");
}

PROBE(exercise)
