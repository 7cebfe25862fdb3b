/* arch_prctl: segment bases of the thread. */
#define CAPABILITY "syscall_arch_prctl"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_arch_prctl
#include <asm/prctl.h>

static unsigned long base, values[4] = {0x1234, 5, 6, 7};

CHECK(reports_the_base_of_thread_local_storage) {
    works(syscall(SYS_arch_prctl, ARCH_GET_FS, &base), "ARCH_GET_FS");
    unsigned long self;
    __asm__("movq %%fs:0, %0" : "=r"(self)); /* the first word is its own address */
    want(base == self, "another base");
}

CHECK(sets_a_base_that_memory_is_read_by) {
    works(syscall(SYS_arch_prctl, ARCH_SET_GS, values), "ARCH_SET_GS");
    unsigned long first;
    __asm__ volatile("movq %%gs:0, %0" : "=r"(first));
    want(first == 0x1234, "%%gs:0 is %#lx", first);
    works(syscall(SYS_arch_prctl, ARCH_GET_GS, &base), "ARCH_GET_GS");
    want(base == (unsigned long)values, "another base was returned");
}

static void compares(void) {
    syscall(SYS_arch_prctl, ARCH_GET_GS, &base);
    _exit(base == (unsigned long)values ? 0 : 1);
}

CHECK(is_inherited) {
    works(syscall(SYS_arch_prctl, ARCH_SET_GS, values), "ARCH_SET_GS");
    want(end_of(child_that(compares)) == 0, "the child has another base");
}

CHECK(refuses_a_base_in_the_kernel) {
    refuses(syscall(SYS_arch_prctl, ARCH_SET_GS, -4096L), EPERM, "a base in the kernel");
}

CHECK(refuses_an_unknown_option) {
    refuses(syscall(SYS_arch_prctl, 0x7fff, 0), EINVAL, "option 0x7fff");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_arch_prctl, ARCH_GET_FS, 8), EFAULT, "the base to address 8");
}
#else
CHECK(is_unknown_here) {
    unavailable("this architecture has no segments");
}
#endif

CHECKS
