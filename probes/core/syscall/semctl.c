/* semctl: values of semaphores, who waits, and their removal. */
#define CAPABILITY "syscall_semctl"
#include "_runner_c.h"

#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <unistd.h>

static int set = -1;

static long ctl(int which, int command, unsigned long value) {
    return syscall(SYS_semctl, set, which, command, value);
}

static void make(void) {
    set = (int)works(semget(IPC_PRIVATE, 2, 0600), "semget");
}

static long after(long result) {
    int number = errno;
    syscall(SYS_semctl, set, 0, IPC_RMID, 0);
    errno = number;
    return result;
}

CHECK(sets_and_gets_a_value) {
    make();
    long changed = ctl(1, SETVAL, 7), first = ctl(0, GETVAL, 0), second = after(ctl(1, GETVAL, 0));
    want(changed == 0 && first == 0 && second == 7, "%ld and %ld", first, second);
}

CHECK(sets_and_gets_all_values) {
    unsigned short values[2] = {3, 4}, got[2] = {0, 0};
    make();
    works(after(ctl(0, SETALL, (unsigned long)values)), "SETALL");
    make();
    ctl(0, SETALL, (unsigned long)values);
    works(after(ctl(0, GETALL, (unsigned long)got)), "GETALL");
    want(got[0] == 3 && got[1] == 4, "%d and %d", got[0], got[1]);
}

CHECK(reports_who_was_last_and_how_many_wait) {
    struct sembuf up = {0, 1, 0};
    make();
    semop(set, &up, 1);
    long last = ctl(0, GETPID, 0), waiting = ctl(0, GETNCNT, 0), zero = after(ctl(0, GETZCNT, 0));
    want(last == getpid() && waiting == 0 && zero == 0, "%ld, %ld, %ld", last, waiting, zero);
}

CHECK(changes_who_may_use_them) {
    struct semid_ds info = {0};
    make();
    ctl(0, IPC_STAT, (unsigned long)&info);
    info.sem_perm.mode = 0640;
    ctl(0, IPC_SET, (unsigned long)&info);
    info.sem_perm.mode = 0;
    works(after(ctl(0, IPC_STAT, (unsigned long)&info)), "IPC_STAT");
    want((info.sem_perm.mode & 0777) == 0640, "mode %o", info.sem_perm.mode & 0777u);
}

CHECK(removes_them) {
    make();
    works(ctl(0, IPC_RMID, 0), "IPC_RMID");
    want(ctl(0, GETVAL, 0) == -1, "they are still there");
}

CHECK(refuses_a_value_too_high) {
    make();
    refuses(after(ctl(0, SETVAL, 32768)), ERANGE, "32768");
}

CHECK(refuses_a_number_that_is_none) {
    make();
    refuses(after(ctl(9, GETVAL, 0)), EINVAL, "semaphore 9 of 2");
}

CHECK(refuses_what_are_no_semaphores) {
    refuses(ctl(0, GETVAL, 0), EINVAL, "-1");
}

CHECK(refuses_unknown_commands) {
    make();
    refuses(after(ctl(0, 9999, 0)), EINVAL, "command 9999");
}

CHECK(refuses_a_bad_address) {
    make();
    refuses(after(ctl(0, GETALL, 8)), EFAULT, "an answer at 8");
}

CHECKS
