/* nfsservctl: the NFS server of the kernel, steered; asked with a command that is none. */
#define CAPABILITY "syscall_nfsservctl"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_nfsservctl
CHECK(refuses_unknown_commands) {
    refuses(syscall(SYS_nfsservctl, 99, NULL, NULL), EINVAL, "command 99");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no nfsservctl");
}
#endif

CHECKS
