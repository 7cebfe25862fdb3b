/* process_vm_writev: memory of another process, written. */
#define CAPABILITY "syscall_process_vm_writev"
#include "_runner_c.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char here[32] = "here", there[32] = "there";

static long move(pid_t pid, void *local, void *remote, unsigned long flags) {
    struct iovec own = {local, 8}, theirs = {remote, 8};
    return syscall(SYS_process_vm_writev, pid, &own, 1, &theirs, 1, flags);
}

static void waits_for_a_change(void) {
    _exit(soon(((volatile char *)there)[0] == 'h') ? 7 : 1);
}

CHECK(writes_a_childs_memory) {
    pid_t child = child_that(waits_for_a_change);
    want(works(move(child, here, there, 0), "process_vm_writev") == 8, "not eight bytes");
    want(end_of(child) == 7 << 8, "the child did not see the change");
    want(strcmp(there, "there") == 0, "its parent's memory has changed");
}

CHECK(refuses_memory_that_is_read_only) {
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    refuses(move(child_that(waits), here, page, 0), EFAULT, "a page for reading");
}

CHECK(refuses_nobody) {
    refuses(move(0x7ffffff0, here, there, 0), ESRCH, "nobody");
}

CHECK(refuses_unknown_flags) {
    refuses(move(getpid(), here, there, 1), EINVAL, "flag 1");
}

CHECKS
