/* A call that reaches the supervisor, from the notification to the answer: numbers, registers, and
 * the memory they point at are all the guest's. The "guest" is this process: addresses in its calls
 * point into a page that ends where nothing is mapped. */
#include "fuzz.h"

#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { MEMORY = 8192 };

static struct seccomp_notif next;
static struct seccomp_notif_resp last;
static int fake_ioctl(int fd, unsigned long request, void *argument);

#define ioctl(fd, request, argument) fake_ioctl((fd), (request), (void *)(uintptr_t)(argument))
#include "../notifications.c"
#undef ioctl
#include "../lookups.h"
#include "../quotas.c"
#include "../refusals.c"

static int fake_ioctl(int fd, unsigned long request, void *argument) {
    (void)fd;
    if (request == SECCOMP_IOCTL_NOTIF_RECV)
        memcpy(argument, &next, sizeof next);
    else if (request == SECCOMP_IOCTL_NOTIF_SEND)
        memcpy(&last, argument, sizeof last);
    return 0;
}

static char *memory;

/* A root for it to look at, with links that lead up, round and nowhere. */
static void furnish(void) {
    char place[] = "/tmp/wardian-fuzz-XXXXXX";
    memory = mmap(NULL, MEMORY + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    HOLDS(memory != MAP_FAILED && munmap(memory + MEMORY, 4096) == 0 && mkdtemp(place));
    int root_fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    HOLDS(root_fd >= 0 && mkdirat(root_fd, "a", 0755) == 0 && mkdirat(root_fd, "a/b", 0) == 0);
    HOLDS(symlinkat("../../..", root_fd, "a/up") == 0 && symlinkat("/a/loop", root_fd, "a/loop") == 0);
    HOLDS(symlinkat("/a/b/missing", root_fd, "l") == 0 && symlinkat("/proc/self/root", root_fd, "p") == 0);
    sight_attach(root_fd, -1);
    struct stat st;
    HOLDS(fstat(root_fd, &st) == 0);
    unlinkat(root_fd, "a/up", 0); /* the names go; what they led to was looked at below */
    symlinkat("../../..", root_fd, "a/up");
}

static struct plan plan;

static void furnish_plan(const uint8_t *places) {
    static const struct {
        unsigned short code;
        unsigned char t, f;
        unsigned k;
    } allow = {0x06, 0, 0, SECCOMP_RET_ALLOW}, refuse = {0x06, 0, 0, SECCOMP_RET_ERRNO | EPERM};
    plan = (struct plan){.budget_call = 5, .budget_arg = 2, .disk_bytes = 1 << 20, .notify = true};
    plan.quotas[plan.quota_count++] = (struct quota){.call = 6, .arg = 0, .most = 16};
    plan.own_network = places[0] & 1;
    plan.opens = places[0] & 2;
    plan.argv = (char *[]){NULL};
    plan.cwd = plan.path = plan.hostname = "/";
    plan.verdict = (const uint8_t *)(places[0] & 4 ? &refuse : &allow);
    plan.verdict_len = sizeof allow;
    bpf_load(&plan);
    static const int16_t numbers[] = {
        SYS_openat, SYS_openat, SYS_openat, SYS_fchmodat, SYS_unlinkat, SYS_mkdirat, SYS_renameat2,
        SYS_linkat, SYS_execve, SYS_connect, SYS_bind, SYS_sendto, SYS_sendmmsg, SYS_kill, SYS_clone,
        SYS_mmap, SYS_exit, SYS_fchmod};
    for (int kind = WATCH_NOT + 1; kind < WATCH_KINDS; kind++) {
        struct watched w = {.kind = (uint8_t)kind, .nofollow = places[kind % 6] & 1,
                            .link = places[kind % 6] & 2, .directory = places[kind % 6] & 4};
        int8_t *const at[] = {&w.dir, &w.path, &w.other_dir, &w.other, &w.flags, &w.access};
        for (int i = 0; i < 6; i++)
            *at[i] = (int8_t)(places[(kind + i) % 6] % 7 - 1);
        plan.watched_calls[kind] = w; /* each kind under a number of its own, */
        plan.watched_calls[numbers[kind]] = w; /* and under one that it is meant for */
    }
}

static void forget(void) {
    refusal_count = 0;
    memset(used, 0, sizeof used);
    not_remembered = spent = 0;
    text_used = 1;
    memset(by_hash, 0, sizeof by_hash);
}

/* One byte of number, six of what the registers are, six registers; the rest is memory. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { HEAD = 2 + 6 + 6 * 8 };
    if (!memory)
        furnish();
    if (size < HEAD)
        return 0;
    forget();
    furnish_plan(data + 2);
    memset(&next, 0, sizeof next);
    next.id = 1;
    next.pid = (uint32_t)getpid();
    next.data.nr = data[0] | (data[1] & 3) << 8;
    const uint8_t *bytes = data + HEAD;
    size_t len = size - HEAD < MEMORY ? size - HEAD : MEMORY;
    memset(memory, 0, MEMORY);
    char *start = memory + MEMORY - len; /* up to the end of what is mapped */
    memcpy(start, bytes, len);
    for (int i = 0; i < 6; i++) {
        uint64_t value;
        memcpy(&value, data + 8 + 8 * i, sizeof value);
        bool address = data[2 + i] & 0x80;
        next.data.args[i] = address ? (uintptr_t)start + value % (len + 1) : value;
    }
    if (data[1] & 4) { /* a message that points at itself, and at the rest */
        struct msghdr message = {.msg_name = start + 56, .msg_namelen = data[1] >> 3, .msg_iovlen = 1};
        message.msg_iov = (void *)(start + (len > 72 ? 56 : 0));
        memcpy(start, &message, len < sizeof message ? len : sizeof message);
        next.data.args[1] = (uintptr_t)start;
    }
    notifications_begin(-1);
    answer_one(&plan);
    HOLDS(last.id == 1 && last.error <= 0);
    bool goes_on = last.flags & SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    bool budget = next.data.nr == plan.budget_call || next.data.nr == plan.quotas[0].call;
    HOLDS(goes_on ? !last.error : last.error < 0);
    HOLDS(!goes_on || budget || !(data[2] & 4)); /* what the filter refuses never goes on */
    lookup_judge(&plan, (pid_t)1);
    return 0;
}
