/* Processes can share semaphores by key (semget). */
#define CAPABILITY "ipc_sysv_semaphore"
#include "_runner_c.h"

#include <sys/sem.h>

static void exercise(void) {
    struct sembuf raise = {0, 1, 0};
    int id = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    if (id < 0)
        blocked("semget");
    int result = semop(id, &raise, 1), number = errno, value = semctl(id, 0, GETVAL);
    semctl(id, 0, IPC_RMID);
    if (result < 0)
        blocked_with(number, "semop");
    if (value != 1)
        faulty("the semaphore does not count");
    allowed("made, raised and removed a semaphore");
}

PROBE(exercise)
