/* What the files of the launcher share: the plan, the two ways to fail, and one prototype per step.
 *
 * Three processes run this code:
 *   the supervisor  outside, child of the caller: clones, relays, watches, reports
 *   the reaper      pid 1 inside: puts up the walls, then only waits
 *   the guest       its child, until execve
 *
 * A plan without walls of ours (bare.h) has the same three; its reaper is no pid 1. */
#ifndef WARDIAN_LAUNCH_H
#define WARDIAN_LAUNCH_H

#include <linux/limits.h> /* PATH_MAX, which a freestanding limits.h may lack */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#ifdef WARDIAN_OWN_LIBC
#include "fortify.h"
#endif
#include "bare.h"

/* In the upper half of execve's fourth register, which the kernel does not read: what follows is the
 * place in PATH that the launcher tries. Read only until the guest has become its program; nothing
 * that a guest can put into a register hides a call. */
#define TRIED (0x77617264ULL << 32)

/* Descriptors the caller hands over; everything else it may have leaked is closed first. */
enum {
    FD_PLAN = 3,
    FD_STATUS,
    FD_CONTROL,
    FD_FIRST_STREAM,
    FD_LAST_STREAM = FD_FIRST_STREAM + 2,
    FD_TRACE, /* only with a plan that asks for it */
    FD_FIRST_COPY, /* of output and error; the same */
    FD_LAST = FD_FIRST_COPY + 1,
    FD_TOLD, /* in a program that walls the guest in itself: inner.c */
    FD_BLOCK
};

enum stream_kind { STREAM_NULL, STREAM_DIRECT, STREAM_RELAY, STREAM_PTY };

struct stream {
    enum stream_kind kind;
    int fd; /* the caller's end */
};

/* A file that gets the same output, as far as there is room for it there. */
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

enum { BIND_WRITE = 1, BIND_DEVICE = 2, BIND_OWNER = 4, BIND_OPTIONAL = 8 };

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

enum { MAX_PASSED = 24 };
enum { MAX_STEPS = 512, MAX_RULES = 256, MAX_RLIMITS = 16, MAX_WATCHED = 64, MAX_SYSCALL = 1024 };

/* Just above the range that systemd hands to containers; each sandbox of root's takes one of its own, so
 * that what the kernel counts by user is counted apart. As in host.py. */
#define GUEST_IDS 0x70000000U
#define GUEST_ID_COUNT 0x10000000U

/* A call that goes on, and is looked at: what it does, and which arguments say with what. -1: none. */
enum watch_kind {
    WATCH_NOT,
    WATCH_LOOK, /* needs the path to be there */
    WATCH_OPEN, /* its flags say what it needs */
    WATCH_CHANGE,
    WATCH_REMOVE,
    WATCH_MAKE,
    WATCH_MOVE, /* removes the path, makes the other */
    WATCH_LINK, /* looks at the path, makes the other */
    WATCH_EXEC,
    WATCH_CONNECT,
    WATCH_BIND,     /* makes what its address names, if that is a path */
    WATCH_SEND,     /* sendto */
    WATCH_MESSAGES, /* sendmsg, sendmmsg */
    WATCH_SIGNAL,
    WATCH_FORK,
    WATCH_MAP, /* much memory at once */
    WATCH_EXIT,
    WATCH_OTHER, /* only counted */
    WATCH_KINDS
};

struct watched {
    uint8_t kind;
    int8_t dir, path, other_dir, other, flags, access; /* which argument; -1: none */
    bool nofollow;        /* it means a link itself */
    bool link, directory; /* its path is one, or has to be */
};

/* A call that takes what nobody else counts: the sum of one argument over the run is bounded. */
enum { MAX_QUOTAS = 4 };
struct quota {
    int call, arg;
    uint64_t most;
    bool uncounted; /* only where no control group counts what the call takes */
};

struct plan {
    struct bare bare; /* all zero but where a plan says that it is one without walls */
    pid_t parent;
    uid_t uid;
    gid_t gid;
    uid_t host_id; /* as root: who the guest is outside, if that can be; 0: it does not matter */
    const char *hostname;
    bool own_network;
    bool own_proc;       /* false only when degraded by name */
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
    bool trace, trace_every; /* tell all that is done; every call, or each thing once */
    bool opens;   /* every open is watched, not only those that write */
    bool lookups; /* the supervisor answers for the guest's root, where it can */
    bool early_filter; /* what is left to do after it is all allowed by it */
    uint8_t refusal_errno[MAX_SYSCALL];
    const uint8_t *verdict; /* the filter without what is only watched */
    size_t verdict_len;
    struct watched watched_calls[MAX_SYSCALL];

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

/* Walls that a test build can leave out, to show that each attack needs its wall. */
enum wall {
    WALL_NONE = 0,
    WALL_SECCOMP = 1 << 0,
    WALL_LANDLOCK = 1 << 1,
    WALL_NETWORK = 1 << 2,
    WALL_PID = 1 << 3,
    WALL_IPC = 1 << 4,
    WALL_UTS = 1 << 5,
    WALL_CGROUP = 1 << 6,
    WALL_PIVOT = 1 << 7,
    WALL_RLIMITS = 1 << 8,
    WALL_WATCH = 1 << 9,
    WALL_READONLY = 1 << 10,
    WALL_NOSUID = 1 << 11,
    WALL_CLOSE = 1 << 12,
    WALL_IDENTITY = 1 << 13,
    WALL_CAPABILITIES = 1 << 14,
    WALL_MASK = 1 << 15,
    WALL_SYSCTL = 1 << 16,
    WALL_DUMPABLE = 1 << 17,
    WALL_SESSION = 1 << 18,
    WALL_DEATH = 1 << 19,
    WALL_DEVPTS = 1 << 20,
    WALL_CONTROL = 1 << 21,
};

#ifdef WARDIAN_TEST_WALLS
#define WALL_IS_UP(plan, wall) (((plan)->without & (wall)) == 0)
uint32_t wall_named(const char *name);
#else
#define WALL_IS_UP(plan, wall) ((void)(plan), true)
#endif

/* report.c: failing, and saying so. `wall` names what could not be put up, `what` the attempt. */
void report_to_status(void);
void report_to_supervisor(int ctl);
void report_while(int parent_pidfd); /* from here on, writing never outlasts the caller */
bool reader_waits(int fd);           /* until it takes more, or false: the caller is gone */
_Noreturn void die(int error, const char *wall, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct failure {
    int error;
    char wall[48];
    char what[400];
};
_Noreturn void die_again(const struct failure *failure);
void emit(const char *format, ...) __attribute__((format(printf, 1, 2)));
size_t json_escape(char *out, size_t size, const char *text, size_t len);

/* plan.c */
void plan_read(struct plan *plan, int fd);
bool plan_parse(struct plan *plan, const uint8_t *bytes, size_t len, const char **problem);
void plan_forget(void);

/* channel.c: messages between the three processes, descriptors included */
enum message_kind {
    MSG_GO,
    MSG_SOURCES,
    MSG_FAILURE,
    MSG_LOOKUPS,
    MSG_BUILT,
    MSG_PROC,
    MSG_TOPS,
    MSG_PTY,
    MSG_READY,
    MSG_EXEC_FAILED,
    MSG_EXITED
};
struct message {
    enum message_kind kind;
    union {
        struct failure failure;
        int error;
        struct {
            bool more;
            uint16_t count, steps[MAX_PASSED]; /* which, in the order of the descriptors */
        } sources;
        struct {
            bool listens; /* the first descriptor is the filter's listener */
        } ready;
        struct {
            int status;
            uint64_t tasks;
            struct rusage usage;
        } exited;
    };
};
void channel_pair(int ends[2]);
void channel_send(int fd, const struct message *message, const int *fds, size_t fd_count);
/* Returns false at end of file. `sender` is in the receiver's pid namespace. */
bool channel_receive(int fd, struct message *message, int *fds, size_t *fd_count, pid_t *sender);

/* Two processes that wait for each other: a message says "go on", and may carry a descriptor; the
 * end of file says "give up". */
void give_turn(int fd, int passed);
int wait_for_turn(int fd);

/* numbers.c: reading decimal numbers out of what /proc says */
const char *next_number(const char *text, uint64_t *value);
uint64_t number_after(const char *text, const char *label, bool last); /* the first, or the line's last */
#define HASH_START 2166136261U /* FNV-1a, 32 bits */
uint32_t hash_bytes(uint32_t hash, const char *bytes, size_t len);

/* directory.c: every entry but . and .., or those whose names are numbers; and a small file below one */
void each_entry(int dir, visit *each, void *context);
void each_number(int dir, visit *each, void *context);
ssize_t read_below(int dir, const char *entry, const char *name, char *text, size_t size);

/* descriptors.c */
void close_all_but(int last_kept);
void close_others(int last_kept, const int *kept, size_t count); /* above the one, but for these */

/* namespaces.c */
pid_t clone_into_namespaces(const struct plan *plan, int *pidfd);
void choose_identity(const struct plan *plan);
void map_identity(const struct plan *plan, pid_t child);
void take_identity(const struct plan *plan);
bool give_to_guest(const char *path);
int idmap_namespace(uid_t owner, gid_t group);
bool caller_is_root(void);
uid_t guest_host_uid(void);

/* What stands in the guest's root: a mount, or a link. */
enum { MAX_TOPS = 24 };
struct top {
    char name[40];
    char link[64]; /* where it leads; empty: it is no link */
    int fd;
};

/* lookups.c: a root that the supervisor answers for */
void lookups_prepare(const struct plan *plan);     /* before the clone */
bool lookups_shape(const struct plan *plan);       /* in the reaper */
struct top *lookups_tops(size_t *count);
bool lookups_own(size_t top);                      /* a directory of our own making */
void lookups_serve(int device);                    /* in the supervisor */
void lookups_see(const int *fds, size_t count);
void lookups_expire(void);
void lookups_run(void);
int lookups_fd(void);
void lookups_answer(void);

/* mounts.c */
/* Outside: by the supervisor, with rights that the guest lacks. False if those are not had. */
bool can_open_sources(struct plan *plan);
void pass_sources(struct plan *plan, int ctl);
void take_sources(struct plan *plan, int ctl);
/* In the reaper, with its own. */
void open_sources(struct plan *plan, bool outside);
void close_sources(struct plan *plan);
void build_root(struct plan *plan, int ctl, int guest, int device); /* /dev/fuse, or -1 */
void help_with_root(struct plan *plan, int reaper);                 /* in the guest-to-be */

/* The small walls, one file each. */
int own_network(const struct plan *plan, int *diag); /* network.c */
void join_network(const struct plan *plan, int namespace);
void limit_capabilities(const struct plan *plan);   /* capabilities.c */
void drop_capabilities(const struct plan *plan);
void forget_session_keyring(const struct plan *plan);
void set_rlimits(const struct plan *plan);          /* rlimits.c: all but this one */
void limit_open_files(const struct plan *plan);
void raise_open_files(void);
void restrict_with_landlock(const struct plan *plan); /* landlock.c */
int install_filter(const struct plan *plan);        /* seccomp.c: listener, or -1 */
bool every_call_is_watched(const struct plan *plan);
void reset_signals(void);                           /* signals.c */
void reset_realtime_signals(void);

/* reaper.c, guest.c */
_Noreturn void reaper_main(struct plan *plan, int ctl);
void hand_streams(const struct plan *plan, int guest, int ctl); /* in the reaper, in the new root */
void take_streams(const struct plan *plan, int reaper);         /* in the guest */
void announce(int ctl, int listener, int diag);
_Noreturn void become_program(const struct plan *plan, int ctl);
bool guest_program(const struct plan *plan, uint64_t mark, char *path); /* what it tries to become */
_Noreturn void guest_main(struct plan *plan, int ctl, int reaper);

/* cgroup.c: what the kernel counts for the run as a whole, where the caller may make a group */
void cgroup_prepare(const struct plan *plan);       /* before the clone */
int cgroup_birthplace(void);                        /* to clone into, or -1 */
void cgroup_move(pid_t child);                      /* into the same, where that can't be */
void cgroup_make(const struct plan *plan, int ctl); /* after it */
void cgroup_enter(const struct plan *plan, int ctl); /* in the guest-to-be */
void cgroup_give_up(void);
int cgroup_version(void); /* 0: there is none */
bool cgroup_cpu_us(uint64_t *us);
bool cgroup_memory(uint64_t *bytes);
uint64_t cgroup_network(uint64_t listed); /* not in the other count */
bool cgroup_out_of_memory(void);
bool cgroup_met_limit(void);
bool cgroup_thrashes(uint64_t limit, uint64_t bytes);
void cgroup_kill(void);
void cgroup_sweep(void);
void cgroup_remove(void);

/* supervise.c */
struct supervised {
    pid_t reaper;
    int reaper_pidfd;
    int parent_pidfd;
    int ctl;
};
_Noreturn void supervise(struct plan *plan, struct supervised *run);
void supervise_from_now(pid_t reaper);
void supervise_nothing(void); /* on the way out of a run that failed: its processes and its groups go */

/* relay.c */
void relay_prepare(struct plan *plan);  /* before the clone: makes the pipes */
void relay_release(void);               /* in the supervisor, after it: drops the guest's ends */
int relay_guest_end(int stream);        /* in the guest: what to dup onto 0, 1, 2 */
void relay_pty(struct plan *plan, int master);
void relay_resize(void);
void relay_restore_terminal(void);
struct pollfd;
size_t relay_poll(struct pollfd *fds, size_t room);
void relay_step(const struct pollfd *fds, size_t count);
bool relay_drained(void);
void relay_give_up(void); /* on output of which nothing waits */
uint64_t relay_bytes(int stream);
bool relay_output_exceeded(uint64_t limit);
void relay_report_held(void); /* what the command itself may have said, and nobody was handed */

/* verdict.c: what the filter says of a call that reached the supervisor */
struct seccomp_data;
void verdict_keep(const struct plan *plan);
int verdict_of(const struct seccomp_data *data); /* 0: allowed; else the error */

/* view.c: what a call is about. A task is named by its id out here, or by minus its id inside. */
struct call {
    pid_t task;
    int number;
    uint64_t args[6];
};
struct sight {
    bool there, directory, link, read_only, masked;
    uint16_t mode; /* as stat tells it; 0: not known */
    uid_t owner;
    bool ours;   /* it, or else the deepest directory above it, is no share */
    bool parent; /* it is not there, but could be made */
};
void view_attach(int root_fd);
void view_top(const struct top *top);
void view_proc(int guests_proc);
void view_asker(pid_t task); /* whose /proc/self is meant from here on */
uint64_t view_missed(void);  /* paths that the kernel could read, and we could not */
int view_open(pid_t task, const char *name, int flags); /* a file of the task's in /proc */
ssize_t view_read(pid_t task, const char *name, char *to, size_t size); /* the same, as a string */
ssize_t view_bytes(pid_t task, uint64_t address, void *to, size_t size);
bool view_string(pid_t task, uint64_t address, char *to, size_t size);
bool view_path(pid_t task, int dir, uint64_t address, char *path); /* of PATH_MAX bytes */
bool view_from(pid_t task, int dir, const char *name, size_t len, char *path); /* the same */
/* False if it can't be told. `resolved`, of PATH_MAX bytes or NULL: the same path, or where links
 * on the way to something missing lead. */
bool view_look(const char *path, bool follow, struct sight *sight, char *resolved);
bool view_empty(const char *path); /* a directory that can be removed, as far as we may look */
void view_changed(void); /* what was seen may be so no longer */

/* processes.c: who made a call; a number for processes_report's list, or -1 */
void processes_begin(pid_t guest);
int process_of(pid_t task);
void processes_report(void);

/* foresee.c: the errno that a call on a path will meet, as far as looking tells; 0: none */
bool foresee_follows(const struct call *call, const struct watched *watched);
int foresee(const struct call *call, const struct watched *watched, const char *path,
            const struct sight *sight);
int foresee_there(const struct call *call, const struct watched *watched, const struct sight *from,
                  const struct sight *to); /* for the place that a link or a renamed file gets */

/* trace.c: everything that is done, told as it happens */
enum text_kind {
    TEXT_PATH = 1,
    TEXT_ADDRESS,
    TEXT_NAME,
    TEXT_ABSENT,    /* a path where nothing lay when the call was made */
    TEXT_DIRECTORY, /* one where a directory lay */
};
struct traced_text {
    int argument;
    enum text_kind what;
    const char *at;
    size_t len;
};
void trace_begin(const struct plan *plan);
bool trace_on(void);
bool trace_has_begun(void); /* the guest has become its program */
bool trace_full(void); /* nobody has read: no more calls until then */
int trace_fd(void);    /* to be polled for writing, or -1 */
void trace_flush(void);
void trace_call(const struct call *call, const struct watched *watched, int error,
                const struct traced_text *texts, size_t count, bool exists);
void trace_goes_on(pid_t task);
void trace_settle(void); /* what its tasks have waited for until now; they are about to be killed */
void trace_end(void);

/* refusals.c: what the supervisor answers to a call, and remembers of it */
void refusals_home(const char *home); /* what the guest's own home stands for */
void refusals_begin(int listener);
void refusals_answer(const struct plan *plan, int listener);
void refusals_limit(const char *name, pid_t inside); /* one that was seen to be met */
void refusals_lookup(const struct plan *plan, pid_t inside); /* the call that this task is in */
void refusals_report(void);
uint64_t refusals_budget_spent(void);

/* watch.c: limits that no kernel object holds for a whole tree of processes */
enum limit { LIMIT_NONE, LIMIT_TIME, LIMIT_CPU, LIMIT_MEMORY, LIMIT_OUTPUT, LIMIT_DISK };
struct watch_fds {
    int proc;    /* the guest's /proc */
    int root;    /* its private tmpfs */
    int sysvipc[3]; /* shm, sem and msg of its ipc namespace */
};
void watch_start(const struct plan *plan, pid_t reaper);
void watch_attach(const struct watch_fds *fds);
enum limit watch_tick(const struct plan *plan, int *next_ms);
bool watch_had_process(uint32_t pid);      /* by its number inside; perhaps it did */
bool watch_files_full(const struct plan *plan, pid_t task);
bool watch_space_full(void); /* of the private files */
uint64_t watch_mapped(pid_t task);
bool watch_maps_too_much(const struct plan *plan, uint64_t total);

/* clock.c: time that no account keeps */
bool clock_attach(pid_t reaper);
bool clock_running(void);
uint64_t clock_us(void);

/* sockets.c: what lies in the sockets of the guest's network */
int sockets_diag(void);
void sockets_attach(int fd);
uint64_t socket_bytes(const struct watch_fds *views, bool and_unix);

/* disk.c: `over` when the guest is gone, and can't be asked any more what it wrote */
void disk_watch(const char *path);
bool disk_exceeded(const struct plan *plan, int proc, bool unclaimed, bool over);
uint64_t used_bytes(int fd);
uint64_t used_files(int fd);

uint64_t watch_peak_bytes(void);
uint64_t watch_processes(void); /* how many were seen below a tree's top */
uint64_t watch_cpu_us(void);
int64_t now_us(void);

/* discard.c */
void discard_remember(const char *path); /* while it is certain what stands there */
void discard_tree(void);

/* memory.c */
uint64_t kilobytes_after(const char *text, const char *label);
void memory_start(void);
uint64_t exact_memory(const struct watch_fds *views, uint64_t private_files, uint64_t faults);

#endif
