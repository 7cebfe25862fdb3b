/* Processes can share memory by key (shmget). */
#define CAPABILITY "ipc_sysv_shared_memory"
#include "_runner_c.h"

#include <sys/shm.h>

static void exercise(void) {
    int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    if (id < 0)
        blocked("shmget");
    char *shared = shmat(id, NULL, 0);
    int number = errno;
    shmctl(id, IPC_RMID, NULL);
    if (shared == (void *)-1)
        blocked_with(number, "shmat");
    shared[0] = 'x';
    allowed("made, mapped and removed a segment");
}

PROBE(exercise)
