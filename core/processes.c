/* The guest's processes: command lines and parents, read when a process first matters to the report, and kept
 * past its end. */
#define _GNU_SOURCE
#include "fortify.h"
#include "processes.h"
#include "numbers.h"
#include "status.h"
#include "tasks.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PROCESSES = 512, COMMAND_ROOM = 1024, TEXT_ROOM = 1 << 17 };

struct process {
    uint64_t pid;
    int parent; /* its number here, or -1 */
    uint32_t command, command_len;
    bool announced;
};

static struct process processes[MAX_PROCESSES];
static int process_count;
static char commands[TEXT_ROOM];
static uint32_t commands_used;
static pid_t first; /* the guest's first process: its ancestors are not reported */

void processes_begin(pid_t guest) { first = guest; }

static int numbered(pid_t task, int depth) {
    char status[1024], command[COMMAND_ROOM];
    if (task_read(task, "status", status, sizeof status) <= 0)
        return -1;
    int sign = task < 0 ? -1 : 1;
    uint64_t pid = number_after(status, "\nTgid:\t", false);
    ssize_t len = task_read(sign * (pid_t)pid, "cmdline", command, sizeof command);
    if (len < 0)
        len = 0;
    for (int i = process_count - 1; i >= 0; i--)
        if (processes[i].pid == pid && processes[i].command_len == (uint32_t)len &&
            memcmp(commands + processes[i].command, command, (size_t)len) == 0)
            return i;
    enum { DEEPEST = 16, FIRST_INSIDE = 2 };
    bool top = pid == (uint64_t)(task < 0 ? FIRST_INSIDE : first) || depth == DEEPEST;
    pid_t above = (pid_t)number_after(status, "\nPPid:\t", false);
    int parent = top || above <= 1 ? -1 : numbered(sign * above, depth + 1);
    if (process_count == MAX_PROCESSES || commands_used + (size_t)len > sizeof commands)
        return -1;
    struct process *fresh = &processes[process_count];
    fresh->pid = pid;
    fresh->parent = parent;
    fresh->command = commands_used;
    fresh->command_len = (uint32_t)len;
    memcpy(commands + commands_used, command, (size_t)len);
    commands_used += (uint32_t)len;
    return process_count++;
}

/* By pids inside, wherever those are known. */
int process_of(pid_t task) {
    char status[1024];
    if (task > 0 && task_read(task, "status", status, sizeof status) > 0) {
        pid_t inside = (pid_t)number_after(status, "\nNSpid:\t", true);
        int found = inside > 0 ? numbered(-inside, 0) : -1;
        if (found >= 0)
            return found;
    }
    return numbered(task, 0);
}

/* The process itself and its ancestors, the topmost first. If the status pipe is full now, nothing is lost:
 * all of them are reported at the end, where a line may have any length. */
bool process_announce(int number) {
    static char text[PIPE_BUF - 128];
    if (number < 0)
        return false;
    struct process *one = &processes[number];
    if (one->announced)
        return true;
    one->announced = true;
    process_announce(one->parent);
    json_escape(text, sizeof text, commands + one->command, one->command_len);
    emit_at_once("{\"event\":\"process\",\"number\":%d,\"pid\":%llu,\"parent\":%d,\"command\":\"%s\"}", number,
                 (unsigned long long)one->pid, one->parent, text);
    return true;
}

void processes_forget(void) {
    process_count = 0;
    commands_used = 0;
}

void processes_report(void) {
    static char text[6 * COMMAND_ROOM + 8];
    for (int i = 0; i < process_count; i++) {
        json_escape(text, sizeof text, commands + processes[i].command, processes[i].command_len);
        emit("{\"event\":\"process\",\"number\":%d,\"pid\":%llu,\"parent\":%d,\"command\":\"%s\"}", i,
             (unsigned long long)processes[i].pid, processes[i].parent, text);
    }
}
