/* shmctl: what is known of shared memory, changed and removed. */
#define CAPABILITY "syscall_shmctl"
#include "_runner_c.h"

#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

static int segment;
static struct shmid_ds info;

/* A segment that goes with its last user, us. */
static char *attached(void) {
    segment = (int)works(shmget(IPC_PRIVATE, 4096, 0600), "shmget");
    char *memory = shmat(segment, NULL, 0);
    long removed = syscall(SYS_shmctl, segment, IPC_RMID, NULL);
    works(removed, "IPC_RMID");
    want(memory != (void *)-1, "shmat failed");
    return memory;
}

CHECK(reports_what_is_known) {
    attached();
    works(syscall(SYS_shmctl, segment, IPC_STAT, &info), "IPC_STAT");
    want(info.shm_segsz == 4096 && info.shm_nattch == 1, "another segment");
    want(info.shm_cpid == getpid() && info.shm_perm.cuid == geteuid(), "another's");
}

CHECK(keeps_removed_memory_for_its_users) {
    char *memory = attached();
    memory[0] = 7;
    works(syscall(SYS_shmctl, segment, IPC_STAT, &info), "IPC_STAT");
    want(memory[0] == 7 && info.shm_perm.mode & SHM_DEST, "not marked for removal");
}

CHECK(changes_who_may_use_it) {
    attached();
    works(syscall(SYS_shmctl, segment, IPC_STAT, &info), "IPC_STAT");
    info.shm_perm.mode = 0640;
    works(syscall(SYS_shmctl, segment, IPC_SET, &info), "IPC_SET");
    works(syscall(SYS_shmctl, segment, IPC_STAT, &info), "IPC_STAT");
    want((info.shm_perm.mode & 0777) == 0640, "mode %o", info.shm_perm.mode & 0777u);
}

CHECK(removes_what_nobody_uses) {
    segment = (int)works(shmget(IPC_PRIVATE, 4096, 0600), "shmget");
    works(syscall(SYS_shmctl, segment, IPC_RMID, NULL), "IPC_RMID");
    want(syscall(SYS_shmctl, segment, IPC_STAT, &info) == -1, "it is still there");
}

CHECK(reports_the_limits) {
    struct shminfo limits = {0};
    works(syscall(SYS_shmctl, 0, IPC_INFO, &limits), "IPC_INFO");
    want(limits.shmmin == 1 && limits.shmmni > 0 && limits.shmmax >= 4096, "none");
}

CHECK(refuses_a_segment_that_is_none) {
    refuses(syscall(SYS_shmctl, -1, IPC_STAT, &info), EINVAL, "segment -1");
}

CHECK(refuses_unknown_commands) {
    attached();
    refuses(syscall(SYS_shmctl, segment, 9999, &info), EINVAL, "command 9999");
}

CHECK(refuses_a_bad_address) {
    attached();
    refuses(syscall(SYS_shmctl, segment, IPC_STAT, (void *)8), EFAULT, "an answer at 8");
}

CHECKS
