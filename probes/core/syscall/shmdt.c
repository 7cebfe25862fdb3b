/* shmdt: shared memory that a process sees no more. */
#define CAPABILITY "syscall_shmdt"
#include "_runner_c.h"

#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

static int segment;

static char *attached(void) {
    segment = (int)works(shmget(IPC_PRIVATE, 4096, 0600), "shmget");
    char *memory = shmat(segment, NULL, 0);
    shmctl(segment, IPC_RMID, NULL);
    want(memory != (void *)-1, "shmat failed");
    return memory;
}

CHECK(takes_the_memory_away) {
    int ends[2];
    char *memory = attached();
    works(syscall(SYS_shmdt, memory), "shmdt");
    works(pipe(ends), "pipe");
    refuses(write(ends[1], memory, 1), EFAULT, "write from it");
}

CHECK(ends_a_segment_that_was_removed) {
    struct shmid_ds info;
    char *memory = attached();
    works(shmctl(segment, IPC_STAT, &info), "IPC_STAT while in use");
    works(syscall(SYS_shmdt, memory), "shmdt");
    want(shmctl(segment, IPC_STAT, &info) == -1, "it is still there");
}

CHECK(refuses_memory_twice) {
    char *memory = attached();
    works(syscall(SYS_shmdt, memory), "shmdt");
    refuses(syscall(SYS_shmdt, memory), EINVAL, "again");
}

CHECK(refuses_memory_that_is_not_shared_so) {
    static char bytes[8192];
    refuses(syscall(SYS_shmdt, (void *)(((unsigned long)bytes + 4095) & ~4095ul)), EINVAL, "own");
}

CHECK(refuses_an_address_inside_a_page) {
    refuses(syscall(SYS_shmdt, attached() + 1), EINVAL, "byte 1");
}

CHECKS
