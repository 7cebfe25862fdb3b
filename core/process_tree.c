/* All processes below one, found by /proc/PID/task/TID/children, and their end.
 *
 * After SIGKILL was sent, a process makes no more children (copy_process checks for it under the lock that
 * makes the child visible), so killing top-down ends. A process is killed by a pidfd, and only if its parent
 * is still one of ours: the pid may have been reused by now. */
#define _GNU_SOURCE
#include "fortify.h"
#include "process_tree.h"
#include "directory.h"
#include "monotonic.h"
#include "numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#define SYS_pidfd_open 434
#endif

enum { MAX_TREE = 16384, FRESH_US = 2000, SPINS = 16 };

static struct node {
    pid_t pid, parent;
} nodes[MAX_TREE];
static size_t node_count;
static pid_t top; /* 0: the guest has a pid namespace, and so a /proc */
static int64_t walked_us;
static uint64_t task_count; /* of all that were walked */

void tree_watch(pid_t pid) { top = pid; }

bool tree_watched(void) { return top != 0; }

static void add_children_of(const char *tid, void *context) {
    char path[64], text[4096];
    size_t kept = 0;
    uint64_t child;
    pid_t parent = *(const pid_t *)context;
    task_count++;
    snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)parent, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = read(fd, text + kept, sizeof text - 1 - kept)) > 0;) {
        kept += (size_t)n;
        text[kept] = '\0';
        const char *at = text, *space;
        for (; (space = strchr(at, ' ')); at = space + 1)
            if (next_number(at, &child) && node_count < MAX_TREE)
                nodes[node_count++] = (struct node){(pid_t)child, parent};
        kept = 0; /* a number that was cut in two */
        while (*at && kept < 16)
            text[kept++] = *at++;
    }
    if (fd >= 0)
        close(fd);
}

static void add_children(pid_t parent) {
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return;
    each_number(dir, add_children_of, &parent);
    close(dir);
}

static void walk(pid_t from) {
    node_count = 0;
    task_count = 0;
    add_children(from);
    for (size_t i = 0; i < node_count; i++)
        add_children(nodes[i].pid);
}

void each_process(int proc, visit *each, void *context) {
    char name[16];
    if (!top) {
        each_number(proc, each, context);
        return;
    }
    if (now_us() - walked_us > FRESH_US)
        walk(top);
    walked_us = now_us();
    for (size_t i = 0; i < node_count; i++) {
        snprintf(name, sizeof name, "%d", (int)nodes[i].pid);
        each(name, context);
    }
}

static pid_t parent_of(pid_t pid) {
    char path[32], text[1024];
    uint64_t parent;
    snprintf(path, sizeof path, "%d", (int)pid);
    int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    ssize_t n = proc < 0 ? -1 : read_below(proc, path, "stat", text, sizeof text);
    if (proc >= 0)
        close(proc);
    const char *at = n > 0 ? strrchr(text, ')') : NULL; /* ") S parent" */
    return at && strlen(at) > 4 && next_number(at + 3, &parent) ? (pid_t)parent : 0;
}

uint64_t tree_tasks(void) {
    walk(top);
    return task_count > 0 ? task_count - 1 : 0;
}

/* Orphans have the top as their parent, so every way up leads there. */
bool tree_has(pid_t process) {
    enum { DEEPEST = 4096 };
    for (int i = 0; top && process > 1 && i < DEEPEST; i++) {
        process = parent_of(process);
        if (process == top)
            return true;
    }
    return false;
}

static void kill_node(const struct node *node, pid_t own) {
    int fd = (int)syscall(SYS_pidfd_open, node->pid, 0);
    pid_t parent = parent_of(node->pid);
    if (parent == node->parent || parent == own || (top && parent == top)) {
        if (fd >= 0)
            syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
        else if (errno == ENOSYS || errno == EMFILE)
            kill(node->pid, SIGKILL);
    }
    if (fd >= 0)
        close(fd);
}

void tree_kill(void) {
    pid_t own = (pid_t)syscall(SYS_getpid);
    walk(own);
    walked_us = 0;
    for (size_t i = 0; i < node_count; i++)
        kill_node(&nodes[i], own);
}

/* Those whose parents die come to us, and are waited for. */
bool tree_end(int64_t until_us) {
    for (int pass = 1;; pass++) {
        pid_t gone;
        while ((gone = wait4(-1, NULL, __WALL | WNOHANG, NULL)) > 0)
            ;
        if (gone < 0 && errno == ECHILD)
            return true;
        if (now_us() >= until_us)
            return false;
        tree_kill();
        if (pass % SPINS == 0) /* they die on their own now; a chain of forks is chased */
            poll(NULL, 0, 1);
    }
}
