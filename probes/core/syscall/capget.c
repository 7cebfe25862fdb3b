/* capget: the capabilities of a process. */
#define CAPABILITY "syscall_capget"
#include "_runner_c.h"

#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
static struct __user_cap_data_struct data[2];

static uint64_t in_proc(const char *format) {
    char line[128];
    uint64_t set = 77;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, format, &set);
    return set;
}

#define WHOLE(set) (data[0].set | (uint64_t)data[1].set << 32)

CHECK(reports_the_effective_set) {
    works(syscall(SYS_capget, &header, data), "capget");
    want(WHOLE(effective) == in_proc("CapEff: %lx"), "/proc says otherwise");
}

CHECK(reports_the_permitted_set) {
    works(syscall(SYS_capget, &header, data), "capget");
    want(WHOLE(permitted) == in_proc("CapPrm: %lx"), "/proc says otherwise");
}

CHECK(reports_the_inheritable_set) {
    works(syscall(SYS_capget, &header, data), "capget");
    want(WHOLE(inheritable) == in_proc("CapInh: %lx"), "/proc says otherwise");
}

CHECK(reports_none_after_they_were_given_up) {
    be_ordinary();
    data[0].effective = data[1].permitted = 77;
    works(syscall(SYS_capget, &header, data), "capget");
    want(WHOLE(effective) == 0 && WHOLE(permitted) == 0, "some are left");
}

CHECK(reports_those_of_a_child) {
    pid_t child = child_that(waits);
    be_ordinary();
    works(syscall(SYS_capget, &header, data), "capget");
    header.pid = child;
    struct __user_cap_data_struct theirs[2];
    works(syscall(SYS_capget, &header, theirs), "capget of a child");
    want(theirs[0].effective >= data[0].effective, "the child has fewer");
}

CHECK(knows_the_caller_by_its_number) {
    header.pid = getpid();
    works(syscall(SYS_capget, &header, data), "capget");
    want(WHOLE(effective) == in_proc("CapEff: %lx"), "/proc says otherwise");
}

CHECK(reports_half_to_who_asks_in_the_old_way) {
    header.version = _LINUX_CAPABILITY_VERSION_1;
    data[1].effective = 4242;
    works(syscall(SYS_capget, &header, data), "capget");
    want(data[0].effective == (uint32_t)in_proc("CapEff: %lx"), "/proc says otherwise");
    want(data[1].effective == 4242, "the other half was written");
}

CHECK(reports_the_version_to_who_asks_for_none) {
    header.version = 0;
    works(syscall(SYS_capget, &header, NULL), "capget without data");
    want(header.version == _LINUX_CAPABILITY_VERSION_3, "another version");
}

CHECK(refuses_an_unknown_version_and_reports_its_own) {
    header.version = 0x12345678;
    refuses(syscall(SYS_capget, &header, data), EINVAL, "an unknown version");
    want(header.version == _LINUX_CAPABILITY_VERSION_3, "another version");
}

CHECK(refuses_nobody) {
    header.pid = 0x7ffffff0;
    refuses(syscall(SYS_capget, &header, data), ESRCH, "nobody");
}

CHECK(refuses_a_negative_number) {
    header.pid = -1;
    refuses(syscall(SYS_capget, &header, data), EINVAL, "process -1");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_capget, 8, data), EFAULT, "a header at address 8");
    refuses(syscall(SYS_capget, &header, 8), EFAULT, "data to address 8");
}

CHECKS
