/* shmget: shared memory by a key or for itself. */
#define CAPABILITY "syscall_shmget"
#include "_runner_c.h"

#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEY (0x57000000 | getpid())

static long made = -1;

static long make(size_t size) {
    return made = works(syscall(SYS_shmget, KEY, size, IPC_CREAT | IPC_EXCL | 0600), "shmget");
}

/* Remove what was made, and pass a result on. */
static long after(long result) {
    int number = errno;
    shmctl((int)made, IPC_RMID, NULL);
    errno = number;
    return result;
}

CHECK(makes_a_segment_as_it_is_asked) {
    struct shmid_ds info;
    long number = syscall(SYS_shmget, IPC_PRIVATE, 5000, 0640);
    works(made = number, "shmget");
    works(after(shmctl((int)number, IPC_STAT, &info)), "IPC_STAT");
    want(info.shm_segsz == 5000 && (info.shm_perm.mode & 0777) == 0640, "another one");
    want(info.shm_perm.uid == geteuid() && info.shm_cpid == getpid(), "another's");
}

CHECK(finds_a_segment_by_its_key) {
    make(4096);
    want(after(syscall(SYS_shmget, KEY, 0, 0)) == made, "another one");
}

CHECK(makes_another_one_each_time_without_a_key) {
    long one = syscall(SYS_shmget, IPC_PRIVATE, 4096, 0600);
    made = syscall(SYS_shmget, IPC_PRIVATE, 4096, 0600);
    shmctl((int)one, IPC_RMID, NULL);
    want(after(one) >= 0 && made >= 0 && one != made, "%ld and %ld", one, made);
}

CHECK(refuses_to_make_what_is_there_already) {
    make(4096);
    refuses(after(syscall(SYS_shmget, KEY, 4096, IPC_CREAT | IPC_EXCL)), EEXIST, "IPC_EXCL");
}

CHECK(refuses_a_key_that_nobody_has) {
    refuses(syscall(SYS_shmget, KEY, 4096, 0), ENOENT, "no such key");
}

CHECK(refuses_more_than_the_segment_has) {
    make(4096);
    refuses(after(syscall(SYS_shmget, KEY, 100000, 0)), EINVAL, "100000 bytes of 4096");
}

CHECK(refuses_an_empty_segment) {
    refuses(syscall(SYS_shmget, IPC_PRIVATE, 0, 0600), EINVAL, "0 bytes");
}

CHECKS
