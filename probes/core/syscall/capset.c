/* capset: capabilities given up, and none gained. */
#define CAPABILITY "syscall_capset"
#include "_runner_c.h"

#include <linux/capability.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
static struct __user_cap_data_struct data[2];

static long set(void) {
    return syscall(SYS_capset, &header, data);
}

static void get(void) {
    works(syscall(SYS_capget, &header, data), "capget");
}

static void need_a_capability(void) {
    if (!holds(CAP_SETUID))
        unavailable("there is no capability to try it with");
}

CHECK(takes_what_there_is) {
    get();
    works(set(), "capset");
}

CHECK(gives_all_up) {
    works(set(), "capset");
    data[0].effective = data[0].permitted = 77;
    get();
    want(!(data[0].effective | data[1].effective | data[0].permitted | data[1].permitted),
         "some are left");
}

CHECK(gives_up_what_stands_behind_an_act) {
    need_a_capability();
    get();
    data[0].effective &= ~(1U << CAP_SETUID);
    works(set(), "capset");
    refuses(syscall(SYS_setresuid, 1001, 1002, 1003), EPERM, "setresuid");
    data[0].effective |= 1U << CAP_SETUID;
    works(set(), "capset back");
    works(syscall(SYS_setresuid, 1001, 1002, 1003), "setresuid");
}

static void *give_up(void *unused) {
    be_ordinary();
    return unused;
}

CHECK(changes_one_thread_only) {
    pthread_t thread;
    need_a_capability();
    want(pthread_create(&thread, NULL, give_up, NULL) == 0, "no thread");
    pthread_join(thread, NULL);
    want(holds(CAP_SETUID), "this thread has lost it");
}

CHECK(takes_ambient_ones_away_with_the_others) {
    need_a_capability();
    get();
    data[0].inheritable |= 1U << CAP_SETUID;
    works(set(), "capset");
    works(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SETUID, 0, 0), "PR_CAP_AMBIENT_RAISE");
    data[0].inheritable &= ~(1U << CAP_SETUID);
    works(set(), "capset");
    want(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_SETUID, 0, 0) == 0, "it is left");
}

CHECK(refuses_what_was_given_up) {
    be_ordinary();
    data[0].permitted = 1U << CAP_CHOWN;
    refuses(set(), EPERM, "a capability into the permitted set");
}

CHECK(refuses_to_use_what_is_not_permitted) {
    be_ordinary();
    data[0].effective = 1U << CAP_CHOWN;
    refuses(set(), EPERM, "a capability into the effective set");
}

CHECK(refuses_to_hand_on_what_is_not_permitted) {
    be_ordinary();
    data[0].inheritable = 1U << CAP_CHOWN;
    refuses(set(), EPERM, "a capability into the inheritable set");
}

CHECK(refuses_another_process) {
    header.pid = child_that(waits);
    refuses(set(), EPERM, "a child");
}

CHECK(refuses_an_unknown_version_and_reports_its_own) {
    header.version = 0x12345678;
    refuses(set(), EINVAL, "an unknown version");
    want(header.version == _LINUX_CAPABILITY_VERSION_3, "another version");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_capset, 8, data), EFAULT, "a header at address 8");
    refuses(syscall(SYS_capset, &header, 8), EFAULT, "data at address 8");
}

CHECKS
