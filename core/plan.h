/* The plan: everything that the caller decided about one run, and its parser. */
#ifndef WARDIAN_PLAN_H
#define WARDIAN_PLAN_H

#include "bare.h"
#include "call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum stream_kind { STREAM_NULL, STREAM_DIRECT, STREAM_RELAY, STREAM_PTY };

struct stream {
    enum stream_kind kind;
    int fd; /* the caller's end */
};

/* A file that receives a copy of the output, up to its limit. */
struct copy {
    int fd; /* 0 for none */
    uint64_t room;
};

/* One set-up operation inside the new root, run in plan order by build_root(). */
enum step_kind {
    STEP_DIR,     /* path mode */
    STEP_FILE,    /* path mode content */
    STEP_SYMLINK, /* target path */
    STEP_BIND,    /* source path flags */
    STEP_PRIVATE, /* path mode: a directory of our own that the guest may write to */
    STEP_PROC,    /* path */
    STEP_DEVPTS,  /* path max */
    STEP_MQUEUE,  /* path */
    STEP_MASK,    /* path */
    STEP_ONLY,    /* path names: in the new /proc, everything else at its top is masked */
    STEP_SYSCTL,  /* path value, in the new /proc, before it becomes read-only */
};

/* BIND_COPY: read-only, and covered by a copy that the guest may change. */
enum { BIND_WRITE = 1, BIND_DEVICE = 2, BIND_OWNER = 4, BIND_OPTIONAL = 8, BIND_COPY = 16 };

struct step {
    enum step_kind kind;
    const char *path;
    const char *text; /* source, target, content, name or value */
    size_t text_len;
    uint64_t number; /* mode, flags or max */
    int fd;           /* a detached mount, once opened */
};

struct landlock_rule {
    const char *path;
    uint64_t access;
};

/* Addresses that are local in the guest's network, so that the gateway can listen there. */
struct route {
    uint8_t family, bits;
    uint8_t address[16];
};

enum { MAX_STEPS = 512, MAX_RULES = 256, MAX_RLIMITS = 16, MAX_WATCHED = 64, MAX_ROUTES = 64 };

/* Just above the range that systemd hands to containers; each sandbox of root's takes an id of its own, so
 * that the kernel's counts per user are separate. As in host.py. */
#define GUEST_IDS 0x70000000U
#define GUEST_ID_COUNT 0x10000000U

/* A call whose cost no other limit counts: the sum of one argument over the run is bounded. */
enum { MAX_QUOTAS = 4 };
struct quota {
    int call, arg;
    uint64_t most;
    bool uncounted; /* only where no control group counts what the call takes */
};

struct plan {
    struct bare bare; /* zero except in a plan without walls */
    pid_t parent;
    uid_t uid;
    gid_t gid;
    uid_t host_id; /* as root: the guest's id outside, if it is free; 0: any */
    const char *hostname;
    bool own_network;
    const char *interface; /* one in there besides lo; NULL: none */
    uint32_t interface_address; /* IPv4, in host order */
    struct route routes[MAX_ROUTES]; /* into the guest's own network: then it is one by name */
    size_t route_count;
    bool living; /* no command of its own: commands come one by one (place.h) */
    uint64_t unused_ms; /* a living sandbox without a command so far ends after so long; 0: it waits */
    bool keep_session;   /* the supervisor must stay in the terminal's foreground group */
    bool require_keyring;
    struct stream streams[3];
    struct copy copies[3];
    bool pty;

    uint64_t root_bytes, root_inodes; /* of the tmpfs that holds all private files */
    struct step *steps;
    bool sources_open, sources_come; /* the supervisor opens them, and passes them on */
    size_t step_count;
    const char *cwd;

    struct {
        int resource;
        uint64_t value;
    } rlimits[MAX_RLIMITS];
    size_t rlimit_count;

    bool landlock;
    uint64_t landlock_fs, landlock_net, landlock_scoped;
    struct landlock_rule *rules;
    size_t rule_count;

    const uint8_t *filter;
    size_t filter_len;
    bool notify;
    bool tail; /* report the last of standard error */
    bool trace, trace_every; /* report everything that is done; every call, or each thing once */
    bool opens;   /* every open is watched, not only those that write */
    bool no_preload; /* nothing preloads libraries on the host: lookups.c */
    bool lookups; /* the supervisor answers for the guest's root, where it can: fuse_root.c */
    bool early_filter; /* every later set-up call is allowed by the filter */
    uint8_t refusal_errno[MAX_SYSCALL];
    const uint8_t *verdict; /* the filter without the calls that are only watched */
    size_t verdict_len;
    struct watched watched_calls[MAX_SYSCALL];

    bool acted[MAX_SYSCALL]; /* carried out by the supervisor: deputy.c */

    uint64_t wall_ms, cpu_ms, memory_bytes, output_bytes, disk_bytes;
    uint64_t process_limit;
    const char *watched[MAX_WATCHED]; /* host directories the guest may write to */
    size_t watched_count;
    int budget_call, budget_arg; /* a call whose argument counts against the disk limit; or -1 */
    struct quota quotas[MAX_QUOTAS];
    size_t quota_count;
    bool cgroups;        /* to be held by a control group, if one can be made */
    const char *cgroup;  /* where to make it; NULL: beside the caller's own */
    const char *home;    /* the caller's home directory, or NULL */
    const char *discard; /* a directory to remove if the caller is killed, or NULL */
    const char *discard_also; /* another one */

    char **argv;
    char **envp;
    const char *path; /* the guest's PATH */

    uint32_t without; /* walls left out; only a test build ever sets it */
};

void plan_read(struct plan *plan, int fd);
bool plan_parse(struct plan *plan, const uint8_t *bytes, size_t len, const char **problem);
void plan_forget(void);

#endif
