/* shmat: shared memory that several processes see. */
#define CAPABILITY "syscall_shmat"
#include "_runner_c.h"

#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int segment;

static long at(const void *where, int flags) {
    return syscall(SYS_shmat, segment, where, flags);
}

/* A segment that goes with its last user. */
static char *attached(void) {
    segment = (int)works(shmget(IPC_PRIVATE, 4096, 0600), "shmget");
    long place = at(NULL, 0);
    int number = errno;
    shmctl(segment, IPC_RMID, NULL);
    errno = number;
    return (char *)works(place, "shmat");
}

CHECK(gives_empty_memory) {
    char *memory = attached();
    want(memory[0] == 0 && memory[4095] == 0, "not empty");
    memory[4095] = 7;
    want(memory[4095] == 7, "it does not keep a byte");
}

CHECK(shares_it_with_a_child) {
    char *memory = attached();
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        memory[0] = 7;
        _exit(0);
    }
    waitpid(child, NULL, 0);
    want(memory[0] == 7, "a child's writing is not seen");
}

CHECK(shows_the_same_memory_twice) {
    char *one = attached(), *other = (char *)works(at(NULL, 0), "shmat again");
    one[5] = 7;
    want(one != other && other[5] == 7, "other memory");
}

CHECK(counts_who_uses_it) {
    struct shmid_ds info;
    attached();
    works(at(NULL, 0), "shmat again");
    works(shmctl(segment, IPC_STAT, &info), "IPC_STAT");
    want(info.shm_nattch == 2 && info.shm_lpid == getpid(), "%lu uses", info.shm_nattch);
}

CHECK(gives_memory_for_reading_only) {
    int ends[2];
    attached();
    char *memory = (char *)works(at(NULL, SHM_RDONLY), "shmat to read");
    works(pipe(ends), "pipe");
    works(write(ends[1], "x", 1), "write");
    refuses(read(ends[0], memory, 1), EFAULT, "read into it");
}

CHECK(takes_the_address_it_is_given) {
    char *memory = attached(), *room = (char *)works(at(NULL, 0), "shmat again");
    works(shmdt(room), "shmdt");
    want(at(room, 0) == (long)room && memory[0] == 0, "another address");
    want(at(room, SHM_REMAP) == (long)room, "SHM_REMAP does not replace");
}

CHECK(refuses_an_address_inside_a_page) {
    char *memory = attached();
    refuses(at(memory + 1, 0), EINVAL, "at byte 1");
}

CHECK(refuses_an_address_that_is_taken) {
    char *memory = attached();
    refuses(at(memory, 0), EINVAL, "over itself");
}

CHECK(refuses_a_segment_that_is_none) {
    segment = -1;
    refuses(at(NULL, 0), EINVAL, "segment -1");
}

CHECKS
