/* process_vm_readv: memory of another process, read. */
#define CAPABILITY "syscall_process_vm_readv"
#include "_runner_c.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char here[32] = "here", there[32] = "there";

static long move(pid_t pid, void *local, void *remote, unsigned long flags) {
    struct iovec own = {local, 8}, theirs = {remote, 8};
    return syscall(SYS_process_vm_readv, pid, &own, 1, &theirs, 1, flags);
}

CHECK(reads_a_childs_memory) {
    pid_t child = child_that(waits);
    strcpy(there, "changed");
    want(works(move(child, here, there, 0), "process_vm_readv") == 8, "not eight bytes");
    want(strcmp(here, "there") == 0, "read %s", here);
}

CHECK(refuses_an_address_that_is_not_there) {
    refuses(move(child_that(waits), here, (void *)8, 0), EFAULT, "their address 8");
}

CHECK(refuses_nobody) {
    refuses(move(0x7ffffff0, here, there, 0), ESRCH, "nobody");
}

CHECK(refuses_unknown_flags) {
    refuses(move(getpid(), here, there, 1), EINVAL, "flag 1");
}

CHECKS
