/* The guest's tasks, as /proc shows them: their files there and their memory. For people to read, never
 * to decide: the guest may change all of it at any moment. */
#define _GNU_SOURCE
#include "fortify.h"
#include "tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096 };

static int guests_proc = -1;

void tasks_attach(int proc) { guests_proc = proc; }

static int proc_of(pid_t task, const char *name, char path[64]) {
    if (task < 0)
        snprintf(path, 64, "%d/%s", (int)-task, name);
    else
        snprintf(path, 64, "/proc/%d/%s", (int)task, name);
    return task < 0 ? guests_proc : AT_FDCWD;
}

int task_open(pid_t task, const char *name, int flags) {
    char path[64];
    int dir = proc_of(task, name, path);
    return openat(dir, path, flags | O_CLOEXEC);
}

ssize_t task_read(pid_t task, const char *name, char *to, size_t size) {
    int fd = task_open(task, name, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);
    if (fd >= 0)
        close(fd);
    to[n > 0 ? n : 0] = '\0';
    return n;
}

ssize_t task_link(pid_t task, const char *name, char *to, size_t size) {
    char path[64];
    int dir = proc_of(task, name, path);
    return readlinkat(dir, path, to, size);
}

static uint64_t missed;

uint64_t tasks_missed(void) { return missed; }

void tasks_forget_missed(uint64_t before) { missed = before; }

void tasks_note_missed(void) { missed++; }

/* Reads that the kernel does for the guest, but that fail for us, are at least counted. */
static void note_missed(void) { missed += errno == EPERM || errno == EACCES; }

/* By its pid inside, only the guest's own /proc knows a task. This also reads pages that a program may only
 * write to, as the kernel does when it takes a path from there; process_vm_readv does not. */
static ssize_t bytes_of_file(pid_t task, uint64_t address, void *to, size_t size) {
    int fd = task_open(task, "mem", O_RDONLY);
    ssize_t n = fd < 0 ? -1 : pread(fd, to, size, (off_t)address);
    if (n < 0)
        note_missed();
    if (fd >= 0)
        close(fd);
    return n;
}

ssize_t task_bytes(pid_t task, uint64_t address, void *to, size_t size) {
    if (task < 0)
        return bytes_of_file(task, address, to, size);
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
    ssize_t n = syscall(SYS_process_vm_readv, task, &here, 1UL, &there, 1UL, 0UL);
    return n < 0 ? bytes_of_file(task, address, to, size) : n;
}

/* Page by page: the page after the string's last one may be unmapped. */
bool task_string(pid_t task, uint64_t address, char *to, size_t size) {
    for (size_t have = 0; have < size;) {
        size_t piece = PAGE - (address + have) % PAGE;
        if (piece > size - have)
            piece = size - have;
        ssize_t n = task_bytes(task, address + have, to + have, piece);
        if (n <= 0)
            return false;
        if (strnlen(to + have, (size_t)n) < (size_t)n)
            return true;
        have += (size_t)n;
    }
    return false;
}
