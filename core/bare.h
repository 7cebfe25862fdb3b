/* A run without namespaces and without a root of ours: the launcher only supervises. Every wall that
 * such a plan does not ask for by a record of its own does not stand. */
#ifndef WARDIAN_BARE_H
#define WARDIAN_BARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MAX_KEPT = 512, MAX_STAGED = 64, MAX_PLACES = 16, MAX_VOICE = 32 };

/* A path of the host, and what must still stand there. */
struct staged {
    const char *path;
    uint64_t device, inode;
};

struct bare {
    bool wanted;
    bool same_session; /* the command stays in the caller's session, with the caller's terminal */
    bool inner;        /* the command puts up walls itself, and tells of its first process inside */
    int kept[MAX_KEPT]; /* descriptors that the command finds under the same numbers, ascending */
    size_t kept_count;
    const char *stage; /* where the staged paths appear as 0, 1, 2 …, to the command alone */
    struct staged staged[MAX_STAGED];
    size_t staged_count;
    const char *voice; /* how the words of the command itself begin, on standard error */
    const char *places[MAX_PLACES]; /* file systems in memory that the guest has inside */
    size_t place_count;
    uint64_t inodes; /* how many files shared and private places may grow by */
};

struct plan;
struct supervised;

/* bare.c */
void bare_remember(mode_t callers_mask); /* before the launcher sets limits for itself */
void bare_start(struct plan *plan, struct supervised *run);

/* stage.c: in the command-to-be, with the rights of the caller */
void stage_sources(const struct plan *plan);

/* tree.c: all processes below one. They can leave a session and a process group, but not the tree:
 * orphans become children of the nearest subreaper, which the reaper and the supervisor are. */
typedef void visit(const char *name, void *context);
void tree_watch(pid_t top);
bool tree_watched(void);
void each_process(int proc, visit *each, void *context); /* of the guest's: below the top, or in its /proc */
void tree_kill(void);            /* everything below this process */
bool tree_end(int64_t until_us); /* the same until none is left; false if one is */

/* inner.c: another sandbox's first process, between its walls and its command */
void inner_prepare(const struct plan *plan);
void inner_give(void);   /* in the command-to-be: its ends under FD_TOLD and FD_BLOCK */
void inner_release(void); /* in the supervisor */
int inner_brake(void);   /* while this is open, the first process inside does not go on by itself */
int inner_fd(void);
void inner_hear(void);
bool inner_waits(void);
bool inner_let_go(const struct plan *plan); /* true once: its limits are set, its command starts */
pid_t inner_command(void);                  /* 0: there is none */
uint64_t inner_bytes(void);
uint64_t inner_files(void);
void inner_report(void);

#endif
