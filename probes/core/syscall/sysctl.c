/* _sysctl: kernel parameters by number. */
#define CAPABILITY "syscall__sysctl"
#include "_runner_c.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS__sysctl
/* As the kernel had it. */
struct question {
    int *name;
    int length;
    void *old;
    size_t *old_size;
    void *new;
    size_t new_size;
    unsigned long unused[4];
};

CHECK(reports_the_kind_of_kernel) {
    char kind[64] = "";
    size_t size = sizeof kind;
    int name[] = {1, 1}; /* CTL_KERN, KERN_OSTYPE */
    struct question ask = {.name = name, .length = 2, .old = kind, .old_size = &size};
    works(syscall(SYS__sysctl, &ask), "_sysctl");
    want(strcmp(kind, "Linux") == 0, "it is %s", kind);
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS__sysctl, (void *)8), EFAULT, "a question at 8");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no _sysctl");
}
#endif

CHECKS
