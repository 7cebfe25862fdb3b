/* A run without namespaces and without a root of its own. A wall stands only if the plan has a record that
 * asks for it; a plan for a confined guest must ask for every wall that needs no namespace. */
#ifndef WARDIAN_BARE_H
#define WARDIAN_BARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MAX_KEPT = 512, MAX_STAGED = 64, MAX_PLACES = 16, MAX_VOICE = 32 };

/* A path of the host, and the inode that must still be there. */
struct staged {
    const char *path;
    uint64_t device, inode;
};

struct bare {
    bool wanted;
    bool confined; /* behind Landlock and the filter, which stand in every such plan */
    bool internet; /* confined, and with the host's network */
    const char *shm; /* confined: what it finds at /dev/shm */
    bool same_session; /* the command stays in the caller's session, with the caller's terminal */
    bool inner;        /* the command is another sandbox's program, which reports its first process inside */
    int kept[MAX_KEPT]; /* descriptors that the command finds under the same numbers, ascending */
    size_t kept_count;
    const char *stage; /* where the staged paths appear as 0, 1, 2 …, to the command alone */
    struct staged staged[MAX_STAGED];
    size_t staged_count;
    const char *voice; /* prefix of the command's own messages on standard error */
    const char *places[MAX_PLACES]; /* file systems in memory that the guest has inside */
    size_t place_count;
    uint64_t inodes; /* how many files shared and private places may grow by */
};

struct plan;
struct supervised;

void bare_remember(mode_t callers_mask); /* before the launcher sets limits for itself */
void bare_start(struct plan *plan, struct supervised *run);

#endif
