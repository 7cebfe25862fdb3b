/* A privilege can be passed on to programs that are run (PR_CAP_AMBIENT_RAISE). */
#define CAPABILITY "identity_raise_ambient"
#include "_runner_c.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[2];
    if (syscall(SYS_capget, &head, sets) < 0)
        blocked("capget");
    sets[0].inheritable |= 1U << CAP_NET_BIND_SERVICE;
    if (syscall(SYS_capset, &head, sets) < 0)
        blocked("capset");
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_BIND_SERVICE, 0, 0) < 0)
        blocked("PR_CAP_AMBIENT_RAISE");
    allowed("raised CAP_NET_BIND_SERVICE for its children");
}

PROBE(exercise)
