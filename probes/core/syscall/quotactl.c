/* quotactl: disk quotas, asked for and never changed. */
#define CAPABILITY "syscall_quotactl"
#include "_runner_c.h"

#include <sys/quota.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ASK(what, kind) ((unsigned)(what) << SUBCMDSHIFT | (kind))

CHECK(writes_out_what_there_is) {
    works(syscall(SYS_quotactl, ASK(Q_SYNC, USRQUOTA), NULL, 0, NULL), "quotactl Q_SYNC");
}

CHECK(refuses_an_unknown_kind) {
    refuses(syscall(SYS_quotactl, ASK(Q_SYNC, 99), NULL, 0, NULL), EINVAL, "of kind 99");
}

CHECK(refuses_a_disk_that_is_not_there) {
    unsigned format;
    refuses(syscall(SYS_quotactl, ASK(Q_GETFMT, USRQUOTA), "/nonexistent", 0, &format), ENOENT,
            "quotactl of nothing");
}

CHECK(refuses_what_is_no_disk) {
    unsigned format;
    refuses(syscall(SYS_quotactl, ASK(Q_GETFMT, USRQUOTA), "/", 0, &format), ENOTBLK, "of /");
}

CHECKS
