/* semget: semaphores by a key or for itself. */
#define CAPABILITY "syscall_semget"
#include "_runner_c.h"

#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEY (0x57000000 | getpid())

static long made = -1;

static void make(int count) {
    made = works(syscall(SYS_semget, KEY, count, IPC_CREAT | IPC_EXCL | 0600), "semget");
}

/* Remove what was made, and pass a result on. */
static long after(long result) {
    int number = errno;
    semctl((int)made, 0, IPC_RMID);
    errno = number;
    return result;
}

CHECK(makes_as_many_as_asked) {
    struct semid_ds info;
    union {
        struct semid_ds *info;
    } answer = {&info};
    make(3);
    works(after(semctl((int)made, 0, IPC_STAT, answer)), "IPC_STAT");
    want(info.sem_nsems == 3 && (info.sem_perm.mode & 0777) == 0600, "other ones");
}

CHECK(finds_them_by_their_key) {
    make(2);
    want(after(syscall(SYS_semget, KEY, 0, 0)) == made, "other ones");
}

CHECK(refuses_to_make_what_is_there_already) {
    make(1);
    refuses(after(syscall(SYS_semget, KEY, 1, IPC_CREAT | IPC_EXCL)), EEXIST, "IPC_EXCL");
}

CHECK(refuses_a_key_that_nobody_has) {
    refuses(syscall(SYS_semget, KEY, 1, 0), ENOENT, "no such key");
}

CHECK(refuses_more_than_there_are) {
    make(1);
    refuses(after(syscall(SYS_semget, KEY, 5, 0)), EINVAL, "5 of 1");
}

CHECK(refuses_a_count_that_is_none) {
    refuses(syscall(SYS_semget, IPC_PRIVATE, -1, 0600), EINVAL, "-1");
    refuses(syscall(SYS_semget, IPC_PRIVATE, 0, 0600), EINVAL, "0");
}

CHECKS
