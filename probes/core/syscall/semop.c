/* semop: semaphores that count, hold, are waited for, and undone. */
#define CAPABILITY "syscall_semop"
#include "_runner_c.h"

#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int set = -1;

static void make(void) {
    set = (int)works(semget(IPC_PRIVATE, 2, 0600), "semget");
}

static long change(int which, int by, int flags) {
    struct sembuf one = {(unsigned short)which, (short)by, (short)flags};
    return syscall(SYS_semop, set, &one, 1);
}

static long after(long result) {
    int number = errno;
    semctl(set, 0, IPC_RMID);
    errno = number;
    return result;
}

CHECK(counts_up_and_down) {
    make();
    long up = change(0, 5, 0), down = change(0, -2, 0), value = after(semctl(set, 0, GETVAL));
    want(up == 0 && down == 0 && value == 3, "5 less 2 are %ld", value);
}

CHECK(does_all_or_nothing) {
    struct sembuf both[2] = {{0, 1, 0}, {1, -1, IPC_NOWAIT}};
    make();
    long result = syscall(SYS_semop, set, both, 2);
    int number = errno;
    long value = after(semctl(set, 0, GETVAL));
    errno = number;
    refuses(result, EAGAIN, "one of two");
    want(value == 0, "the first was done");
}

CHECK(waits_until_it_can_go_on) {
    make();
    pid_t child = fork();
    if (child == 0) {
        usleep(50000);
        _exit(change(0, 1, 0) != 0);
    }
    long result = change(0, -1, 0);
    int number = errno;
    waitpid(child, NULL, 0);
    errno = number;
    works(after(result), "semop");
}

CHECK(waits_for_0) {
    make();
    change(0, 1, 0);
    long early = change(0, 0, IPC_NOWAIT);
    change(0, -1, 0);
    long late = after(change(0, 0, IPC_NOWAIT));
    want(early == -1 && late == 0, "at 1: %ld, at 0: %ld", early, late);
}

CHECK(undoes_what_a_process_did) {
    int status;
    make();
    pid_t child = fork();
    if (child == 0)
        _exit(change(0, 3, SEM_UNDO) != 0);
    waitpid(child, &status, 0);
    long value = after(semctl(set, 0, GETVAL));
    want(status == 0 && value == 0, "it is %ld", value);
}

CHECK(ends_when_they_are_removed) {
    int status;
    make();
    pid_t child = fork();
    if (child == 0)
        _exit(change(0, -1, 0) == -1 && errno == EIDRM ? 0 : 1);
    for (int i = 0; i < 200 && semctl(set, 0, GETNCNT) == 0; i++)
        usleep(10000);
    after(0);
    waitpid(child, &status, 0);
    want(status == 0, "the waiting process did not get EIDRM");
}

CHECK(refuses_to_wait_where_it_must_not) {
    make();
    refuses(after(change(0, -1, IPC_NOWAIT)), EAGAIN, "IPC_NOWAIT");
}

CHECK(refuses_to_count_too_high) {
    make();
    change(0, 32767, 0);
    refuses(after(change(0, 1, 0)), ERANGE, "32768");
}

CHECK(refuses_a_number_that_is_none) {
    make();
    refuses(after(change(9, 1, 0)), EFBIG, "semaphore 9 of 2");
}

CHECK(refuses_no_and_too_many_changes) {
    struct sembuf one = {0, 1, 0};
    make();
    long many = syscall(SYS_semop, set, &one, 1000000u);
    int number = errno;
    long none = after(syscall(SYS_semop, set, &one, 0u));
    refuses(none, EINVAL, "0 changes");
    errno = number;
    refuses(many, E2BIG, "1000000 changes");
}

CHECK(refuses_what_are_no_semaphores) {
    refuses(change(0, 1, 0), EINVAL, "-1");
}

CHECK(refuses_a_bad_address) {
    make();
    refuses(after(syscall(SYS_semop, set, (void *)8, 1)), EFAULT, "changes at 8");
}

CHECKS
