/* Another sandbox's program (bwrap) that puts up the walls itself. Its first process inside waits before it
 * starts the command; the launcher sets its limits then. The program reports that process's pid, and later
 * the command's exit, as lines of JSON. Limits set earlier would hold for the program too, and the kernel
 * would count the processes of the whole user. */
#define _GNU_SOURCE
#include "fortify.h"
#include "inner_sandbox.h"
#include "descriptors.h"
#include "directory.h"
#include "disk.h"
#include "fail.h"
#include "numbers.h"
#include "plan.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BUILDING_US = 500, PLACE_ROOM = 256 };

static int info[2] = {-1, -1}, block[2] = {-1, -1};
static pid_t first; /* its pid outside */
static bool going;  /* its command was released */
static int code = -1;
static char text[4096];
static size_t text_len;
static char places[MAX_PLACES][PLACE_ROOM];
static int place_fds[MAX_PLACES];
static size_t place_count;
static bool places_open;

/* Above the numbers that the command gets. */
static void raised_pipe(int ends[2]) {
    int low[2];
    if (pipe2(low, O_CLOEXEC) < 0)
        die(errno, "supervisor", "making a pipe to the sandbox's program");
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, FD_BLOCK + 1);
        if (ends[i] < 0)
            die(errno, "supervisor", "making a pipe to the sandbox's program");
        close(low[i]);
    }
}

void inner_prepare(const struct plan *plan) {
    if (!plan->bare.inner)
        return;
    raised_pipe(info);
    raised_pipe(block);
    fcntl(info[0], F_SETFL, O_NONBLOCK);
    for (size_t i = 0; i < plan->bare.place_count; i++)
        if (strlen(plan->bare.places[i]) < PLACE_ROOM)
            snprintf(places[place_count++], PLACE_ROOM, "%s", plan->bare.places[i]);
}

void inner_give(void) {
    if (info[1] >= 0 && (dup2(info[1], FD_JSON_STATUS) < 0 || dup2(block[0], FD_BLOCK) < 0))
        die(errno, "streams", "giving the sandbox's program its pipes");
}

void inner_release(void) {
    if (info[1] < 0)
        return;
    close(info[1]);
    close(block[0]);
}

int inner_brake(void) { return block[1]; }

int inner_fd(void) { return info[0]; }

void inner_hear(void) {
    ssize_t n = read(info[0], text + text_len, sizeof text - 1 - text_len);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        close(info[0]);
        info[0] = -1;
        return;
    }
    text_len += (size_t)n;
    text[text_len] = '\0';
    if (text[text_len - 1] != '\n')
        return;
    if (!first)
        first = (pid_t)number_after(text, "\"child-pid\": ", false);
    if (strstr(text, "\"exit-code\": "))
        code = (int)(number_after(text, "\"exit-code\": ", false) & 0xff);
    text_len = 0;
}

bool inner_waits(void) { return first && !going; }

/* Dropping its capabilities is the last thing it does before it waits for us. */
static bool is_built(void) {
    char path[32], status[4096];
    snprintf(path, sizeof path, "/proc/%d", (int)first);
    return read_below(AT_FDCWD, path, "status", status, sizeof status) > 0 &&
           strstr(status, "\nCapEff:\t0000000000000000\n") && !strstr(status, "\nState:\tZ");
}

/* Lowers, and never raises. Returns 0 or the errno. */
static int limit_first(const struct plan *plan) {
    for (size_t i = 0; i < plan->rlimit_count; i++) {
        struct {
            uint64_t soft, hard;
        } now, wanted;
        int resource = plan->rlimits[i].resource;
        if (syscall(SYS_prlimit64, first, resource, NULL, &now) < 0)
            return errno;
        wanted.soft = wanted.hard = plan->rlimits[i].value < now.hard ? plan->rlimits[i].value : now.hard;
        if (syscall(SYS_prlimit64, first, resource, &wanted, NULL) < 0)
            return errno;
    }
    return 0;
}

/* As the user it runs as: root may lack CAP_SYS_RESOURCE, and then can't set another user's limits. */
static int limit_as_itself(const struct plan *plan) {
    int status = 0;
    pid_t child = fork();
    if (child < 0)
        return errno;
    if (child == 0) {
        if (setgroups(0, NULL) < 0 || setresgid(plan->gid, plan->gid, plan->gid) < 0 ||
            setresuid(plan->uid, plan->uid, plan->uid) < 0)
            _exit(errno);
        _exit(limit_first(plan));
    }
    while (wait4(child, &status, __WALL, NULL) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

bool inner_let_go(const struct plan *plan) {
    if (!is_built()) {
        struct timespec pause = {.tv_nsec = BUILDING_US * 1000L};
        syscall(SYS_nanosleep, &pause, NULL);
        return false;
    }
    int error = limit_first(plan);
    if (error == EPERM && plan->uid)
        error = limit_as_itself(plan);
    if (error == ESRCH) {
        first = 0; /* it has ended, and its program reports why */
        return false;
    }
    if (error)
        die(error, "limits", "setting limits of the sandbox's first process");
    going = write(block[1], "\n", 1) == 1;
    return going;
}

pid_t inner_command(void) {
    char path[64], children[256];
    uint64_t command;
    if (!going)
        return 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)first, (int)first);
    return read_below(AT_FDCWD, path, "children", children, sizeof children) > 0 && next_number(children, &command)
               ? (pid_t)command
               : 0;
}

/* Private files lie in file systems that only processes inside see; one process that we may inspect is
 * enough. */
static bool open_places_of(pid_t pid) {
    char path[PLACE_ROOM + 32];
    for (size_t i = 0; pid > 0 && i < place_count; i++) {
        snprintf(path, sizeof path, "/proc/%d/root%s", (int)pid, places[i]);
        place_fds[i] = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (place_fds[i] < 0 && i == 0)
            return false;
    }
    return pid > 0;
}

static bool see_places(void) {
    if (!places_open && going && place_count)
        places_open = open_places_of(inner_command()) || open_places_of(first);
    return places_open;
}

uint64_t inner_bytes(void) {
    uint64_t sum = 0;
    for (size_t i = 0; see_places() && i < place_count; i++)
        sum += used_bytes(place_fds[i]);
    return sum;
}

uint64_t inner_files(void) {
    uint64_t sum = 0;
    for (size_t i = 0; see_places() && i < place_count; i++)
        sum += used_files(place_fds[i]);
    return sum;
}

void inner_report(void) {
    if (info[0] >= 0)
        inner_hear(); /* its last message */
    if (code >= 0)
        emit("{\"event\":\"inner\",\"code\":%d}", code);
}
