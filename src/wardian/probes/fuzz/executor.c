/* Runs short programs of system calls and tells what each call answered and changed.
 *
 *   executor --inside              in a sandbox, which has confined it already
 *   executor --oracle              on the host: first goes where nothing can be harmed
 *
 * Programs come on standard input, results go to standard output; wire.py has the other end of both
 * formats. Each program runs in a child of its own, with limits, in a scratch directory that is made
 * anew. It decides nothing: what a difference means is not known here.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Fixed, so that a pointer is the same number on both sides. What programs unmap or overrun lies
 * above what we need ourselves. */
#define RESULTS_AT 0x10000000UL
#define ARENA_AT 0x20000000UL
#define REGION_AT 0x40000000UL
#define PAGE 4096UL
#define ARENA_SIZE (8 * PAGE) /* the last page is read-only, nothing is mapped behind it */
#define REGION_SIZE (16 * PAGE)

#define MAX_CALLS 8
#define MAX_WORDS 1024 /* changed words told for one call */
#define MAX_PROGRAMS_BYTES (64UL << 20)
#define MAX_LISTING 8192
#define MAX_DEPTH 8
#define MAX_LOOKS 100
#define FORKED_EXIT 7
#define ENDED_BY_TIME 1000

#define TOP "/tmp/wardian-fuzz"
#define SCRATCH TOP "/s"
#define QUEUE "q"
enum { USES_IPC = 1, TOUCHES_ATTRIBUTES = 2 };
enum { LITERAL, RESULT, WORD, OWN_PID };

struct call {
    uint32_t number;
    uint8_t kinds[6];
    uint8_t unused[6];
    uint64_t values[6];
};
_Static_assert(sizeof(struct call) == 64, "the wire format");

struct word {
    uint32_t index, unused;
    uint64_t value;
};

struct answer {
    int64_t result;
    uint32_t count, more; /* `more` words changed than are told */
    struct word words[MAX_WORDS];
};

struct results {
    uint32_t started, done;
    struct answer answers[MAX_CALLS];
};

static struct results *const results = (struct results *)RESULTS_AT;
static uint8_t *const arena = (uint8_t *)ARENA_AT;
static uint8_t before[ARENA_SIZE];

static void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void die(const char *format, ...) {
    int number = errno;
    va_list arguments;
    va_start(arguments, format);
    fputs("executor: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, ": %s\n", strerror(number));
    exit(3);
}

/* ---- a place where nothing can be harmed ---------------------------------------------------- */

#define INSIDE_ID 1000
static const unsigned host_ids[] = {0x70000000, 65534}; /* as the launcher has it */

static int write_text(pid_t pid, const char *name, const char *text) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = write(fd, text, strlen(text));
    int number = errno;
    close(fd);
    errno = number;
    return n < 0 ? -1 : 0;
}

static int map_ids(pid_t child, unsigned uid, unsigned gid) {
    char line[64];
    snprintf(line, sizeof line, "%d %u 1\n", INSIDE_ID, uid);
    if (write_text(child, "uid_map", line) < 0)
        return -1;
    snprintf(line, sizeof line, "%d %u 1\n", INSIDE_ID, gid);
    return write_text(child, "gid_map", line);
}

static void map_identity(pid_t child) {
    if (geteuid() != 0) {
        if (write_text(child, "setgroups", "deny") < 0 || map_ids(child, geteuid(), getegid()) < 0)
            die("mapping the user");
        return;
    }
    for (size_t i = 0; i < sizeof host_ids / sizeof *host_ids; i++)
        if (map_ids(child, host_ids[i], host_ids[i]) == 0)
            return;
    die("mapping a user other than root");
}

static void put_on(const char *place, const char *type, unsigned long flags, const char *options) {
    struct stat st;
    if (stat(place, &st) < 0)
        return;
    if (mount(type, place, type, flags, options) < 0)
        die("mounting %s on %s", type, place);
}

static void take_places(void) {
    struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};
    if (mount("", "/", "", MS_REC | MS_PRIVATE, "") < 0)
        die("making mounts private");
    if (syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &read_only, sizeof read_only) < 0)
        die("making everything read-only");
    struct mount_attr as_it_was = {.attr_clr = MOUNT_ATTR_RDONLY};
    /* Devices belong to root; what a program answers should not depend on the mount. */
    if (syscall(SYS_mount_setattr, AT_FDCWD, "/dev", AT_RECURSIVE, &as_it_was, sizeof as_it_was) < 0)
        die("giving /dev back");
    put_on("/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=64m");
    put_on("/var/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=1m");
    put_on("/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=1m");
    put_on("/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620");
    mount("/dev/pts/ptmx", "/dev/ptmx", "", MS_BIND, ""); /* often a link to it already */
    put_on("/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

static void raise_loopback(void) {
    struct ifreq request = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return; /* a kernel without it has none in the sandbox either */
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
        die("raising the loopback");
    close(fd);
}

static void drop_rights(void) {
    /* No namespaces of its own, in which it would be able to do what it can't do here. */
    int fd = open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "0", 1) != 1)
        die("forbidding nested namespaces");
    close(fd);
    for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
            die("dropping capability %d", cap);
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    if (syscall(SYS_capset, &header, none) < 0)
        die("dropping capabilities");
}

static void require_no_rights(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct has[2] = {{0}};
    errno = EPERM;
    if (geteuid() == 0 || getuid() == 0)
        die("it does not run programs as root");
    if (syscall(SYS_capget, &header, has) < 0 || has[0].effective || has[1].effective ||
        has[0].permitted || has[1].permitted)
        die("it does not run programs with capabilities");
}

/* The rest of the program goes on in the child; the parent ends as the child does. */
static void become_oracle(void) {
    int ready[2];
    char byte = 0;
    if (geteuid() == 0 && setgroups(0, NULL) < 0)
        die("dropping groups");
    if (pipe2(ready, O_CLOEXEC) < 0)
        die("making a pipe");
    unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                          CLONE_NEWUTS | CLONE_NEWCGROUP;
    pid_t child = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (child < 0)
        die("making namespaces");
    if (child > 0) {
        int status;
        map_identity(child);
        if (write(ready[1], &byte, 1) != 1)
            die("starting");
        close(ready[1]);
        while (waitpid(child, &status, 0) < 0)
            if (errno != EINTR)
                die("waiting");
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        exit(3); /* the parent has said why */
    close(ready[0]);
    if (setresgid(INSIDE_ID, INSIDE_ID, INSIDE_ID) < 0 ||
        setresuid(INSIDE_ID, INSIDE_ID, INSIDE_ID) < 0)
        die("becoming an ordinary user");
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* changing ids clears both */
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    take_places();
    raise_loopback();
    drop_rights();
}

/* ---- the scratch directory ------------------------------------------------------------------ */

static void make_file(const char *name, const char *text, mode_t mode) {
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fchmod(fd, mode) < 0)
        die("making %s", name);
    close(fd);
}

static void make_scratch(void) {
    if ((mkdir(TOP, 0755) < 0 && errno != EEXIST) || mkdir(SCRATCH, 0755) < 0 || chdir(SCRATCH) < 0)
        die("making " SCRATCH);
    make_file("f", "The quick brown fox jumps over the lazy dog.\n", 0644);
    make_file("e", "", 0644);
    make_file("r", "read only\n", 0444);
    make_file("n", "closed\n", 0);
    make_file("x", "#!/bin/sh\nexit 5\n", 0755);
    if (mkdir("d", 0755) < 0 || mkdir("d/h", 0755) < 0 || symlink("f", "l") < 0 ||
        symlink("nowhere", "b") < 0 || mkfifo("p", 0644) < 0)
        die("making scratch");
    make_file("d/g", "inner\n", 0644);
}

static void remove_below(int directory, int depth) {
    DIR *entries = fdopendir(directory);
    if (!entries)
        die("listing");
    struct dirent *entry;
    while ((entry = readdir(entries))) {
        const char *name = entry->d_name;
        if (!strcmp(name, ".") || !strcmp(name, "..") || !unlinkat(dirfd(entries), name, 0))
            continue;
        fchmodat(dirfd(entries), name, 0700, 0);
        int below = openat(dirfd(entries), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0 && depth < 64)
            remove_below(below, depth + 1);
        if (unlinkat(dirfd(entries), name, AT_REMOVEDIR) < 0)
            die("removing %s", name);
    }
    closedir(entries);
}

static void reset_scratch(void) {
    chmod("/tmp", 01777); /* it may be the program's, and closed by it */
    if (chdir("/") < 0 || (chmod(TOP, 0755) < 0 && errno != ENOENT))
        die("leaving scratch");
    int top = open(TOP, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (top >= 0)
        remove_below(top, 0);
    make_scratch();
}

struct listing {
    size_t used;
    bool whole;
    char text[MAX_LISTING];
};

static uint64_t digest(int directory, const char *name) {
    uint64_t hash = 0xcbf29ce484222325;
    unsigned char block[4096];
    ssize_t n, total = 0;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return 0;
    while (total < (1 << 20) && (n = read(fd, block, sizeof block)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            hash = (hash ^ block[i]) * 0x100000001b3;
        total += n;
    }
    close(fd);
    return hash;
}

static void tell(struct listing *listing, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void tell(struct listing *listing, const char *format, ...) {
    size_t room = sizeof listing->text - listing->used;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(listing->text + listing->used, room, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= room)
        listing->whole = false;
    else
        listing->used += (size_t)length;
}

static int by_name(const void *one, const void *other) {
    return strcmp(*(char *const *)one, *(char *const *)other);
}

static void tell_entry(struct listing *listing, int directory, const char *path, const char *name,
                       int depth);

static void list_below(struct listing *listing, int directory, const char *path, int depth) {
    char *names[64];
    size_t count = 0;
    DIR *entries = fdopendir(directory);
    if (!entries) {
        close(directory);
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(entries)) && count < 64)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            names[count++] = strdup(entry->d_name);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        char below[512];
        if (snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", names[i]) <
            (int)sizeof below)
            tell_entry(listing, dirfd(entries), below, names[i], depth);
        free(names[i]);
    }
    closedir(entries);
}

/* One line: type, mode, size, links, digest or target, and the path, with odd bytes as escapes. */
static void tell_entry(struct listing *listing, int directory, const char *path, const char *name,
                       int depth) {
    struct stat st;
    char target[256] = "";
    if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    bool is_directory = S_ISDIR(st.st_mode), is_file = S_ISREG(st.st_mode);
    if (S_ISLNK(st.st_mode) && readlinkat(directory, name, target, sizeof target - 1) < 0)
        *target = 0;
    tell(listing, "%o %lld %lu %llx ", (unsigned)st.st_mode,
         is_directory ? 0LL : (long long)st.st_size, (unsigned long)st.st_nlink,
         is_file ? (unsigned long long)digest(directory, name) : 0ULL);
    for (const char *at = path; *at; at++)
        tell(listing, *at > ' ' && *at < 127 && *at != '\\' ? "%c" : "\\%02x", (unsigned char)*at);
    tell(listing, " ");
    for (const char *at = target; *at; at++)
        tell(listing, *at > ' ' && *at < 127 && *at != '\\' ? "%c" : "\\%02x", (unsigned char)*at);
    tell(listing, "\n");
    if (is_directory && depth < MAX_DEPTH) {
        int below = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0)
            list_below(listing, below, path, depth + 1);
    }
}

static void list_scratch(struct listing *listing) {
    listing->used = 0;
    listing->whole = true;
    *listing->text = 0;
    int top = open(TOP, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (top >= 0)
        list_below(listing, top, "", 0);
    if (!listing->whole)
        listing->used = 0;
}

/* ---- one program ---------------------------------------------------------------------------- */

static void limit(int which, rlim_t value) {
    struct rlimit wanted = {value, value}, now;
    if (getrlimit((__rlimit_resource_t)which, &now) == 0 && now.rlim_max < value)
        wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
    setrlimit((__rlimit_resource_t)which, &wanted); /* the one on core files can't be set inside */
}

static void take_limits(void) {
    limit(RLIMIT_CPU, 2);
    limit(RLIMIT_FSIZE, 1 << 20);
    limit(RLIMIT_DATA, 64 << 20);
    limit(RLIMIT_STACK, 8 << 20);
    limit(RLIMIT_CORE, 1); /* not 0: only 1 keeps a crash away from a piped handler, core(5) */
    limit(RLIMIT_RSS, 64 << 20);
    limit(RLIMIT_NPROC, 64);
    limit(RLIMIT_NOFILE, 64);
    limit(RLIMIT_MEMLOCK, 64 << 10);
    limit(RLIMIT_LOCKS, 64);
    limit(RLIMIT_SIGPENDING, 64);
    limit(RLIMIT_MSGQUEUE, 400 << 10);
    limit(RLIMIT_NICE, 0);
    limit(RLIMIT_RTPRIO, 0);
    limit(RLIMIT_RTTIME, 1000000);
#ifndef __SANITIZE_ADDRESS__
    limit(RLIMIT_AS, 512 << 20);
#endif
}

static uint64_t argument(const struct call *call, int place) {
    uint64_t value = call->values[place];
    switch (call->kinds[place]) {
    case RESULT:
        return value < MAX_CALLS ? (uint64_t)results->answers[value].result : ~0UL;
    case WORD: {
        int32_t word;
        if (value > ARENA_SIZE - sizeof word)
            return ~0UL;
        memcpy(&word, arena + value, sizeof word);
        return (uint64_t)(int64_t)word;
    }
    case OWN_PID:
        return (uint64_t)getpid();
    default:
        return value;
    }
}

static void note_changes(struct answer *answer) {
    if (memcmp(before, arena, ARENA_SIZE) == 0)
        return;
    for (uint32_t i = 0; i < ARENA_SIZE / 8; i++) {
        uint64_t old, now;
        memcpy(&old, before + 8 * i, 8);
        memcpy(&now, arena + 8 * i, 8);
        if (old == now)
            continue;
        memcpy(before + 8 * i, &now, 8);
        if (answer->count < MAX_WORDS)
            answer->words[answer->count++] = (struct word){.index = i, .value = now};
        else
            answer->more++;
    }
}

static void run_calls(const struct call *calls, uint32_t count) {
    pid_t self = getpid();
    for (uint32_t i = 0; i < count; i++) {
        struct answer *answer = &results->answers[i];
        uint64_t args[6];
        for (int place = 0; place < 6; place++)
            args[place] = argument(&calls[i], place);
        results->started = i + 1;
        long result = syscall((long)calls[i].number, args[0], args[1], args[2], args[3], args[4], args[5]);
        int number = errno;
        if (result == 0 && syscall(SYS_getpid) != self)
            _exit(FORKED_EXIT);
        answer->result = result == -1 ? -number : result;
        note_changes(answer);
        results->done = i + 1;
    }
}

static void in_child(const uint8_t *image, uint32_t patches, const struct call *calls, uint32_t count) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    setsid();
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
        _exit(99);
    for (int fd = 3; fd < 16; fd++)
        close(fd);
    umask(022);
    take_limits();
    for (uint32_t i = 0; i < patches; i++) {
        uint32_t at, length;
        memcpy(&at, image, 4);
        memcpy(&length, image + 4, 4);
        memcpy(arena + at, image + 8, length);
        image += 8 + length;
    }
    mprotect(arena + ARENA_SIZE - PAGE, PAGE, PROT_READ);
    memcpy(before, arena, ARENA_SIZE);
    run_calls(calls, count);
    _exit(0);
}

/* Does it wait, rather than want for a processor on a busy machine? */
static bool is_waiting(pid_t child) {
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    const char *end = n > 0 ? strrchr(text, ')') : NULL;
    return !end || strlen(end) < 3 || end[2] != 'R';
}

/* The exit code, minus the signal, or ENDED_BY_TIME: after two looks without progress in between. */
static int await(pid_t child, uint32_t timeout_ms) {
    sigset_t ended;
    struct timespec wait = {timeout_ms / 2000, timeout_ms / 2 % 1000 * 1000000L};
    int status = 0;
    bool late = false;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    for (int looks = 0, progress = -1; waitpid(child, &status, late ? 0 : WNOHANG) != child;) {
        if (sigtimedwait(&ended, NULL, &wait) >= 0 || errno == EINTR)
            continue;
        int now = (int)(results->started + results->done);
        late = (now == progress && is_waiting(child)) || ++looks > MAX_LOOKS;
        progress = now;
        if (late)
            kill(child, SIGKILL);
    }
    kill(-child, SIGKILL); /* what it has started is of its session */
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    if (late)
        return ENDED_BY_TIME;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void clear_ipc(void) {
    struct shm_info shm;
    struct seminfo sem;
    struct msginfo msg;
    union {
        struct seminfo *info;
        struct semid_ds *data;
    } argument = {.info = &sem};
    int last = shmctl(0, SHM_INFO, (struct shmid_ds *)&shm);
    for (int i = 0; i <= last; i++) {
        struct shmid_ds data;
        int id = shmctl(i, SHM_STAT, &data);
        if (id >= 0)
            shmctl(id, IPC_RMID, NULL);
    }
    last = semctl(0, 0, SEM_INFO, argument);
    for (int i = 0; i <= last; i++) {
        struct semid_ds data;
        argument.data = &data;
        int id = semctl(i, 0, SEM_STAT, argument);
        if (id >= 0)
            semctl(id, 0, IPC_RMID);
    }
    last = msgctl(0, MSG_INFO, (struct msqid_ds *)&msg);
    for (int i = 0; i <= last; i++) {
        struct msqid_ds data;
        int id = msgctl(i, MSG_STAT, &data);
        if (id >= 0)
            msgctl(id, IPC_RMID, NULL);
    }
    syscall(SYS_mq_unlink, QUEUE);
}

/* ---- input and output ----------------------------------------------------------------------- */

static uint8_t *input;
static size_t input_size, input_at;
static int out_fd;

static void read_input(void) {
    size_t room = 1 << 16;
    if (!(input = malloc(room)))
        die("memory");
    for (;;) {
        if (input_size == room && (room *= 2) > MAX_PROGRAMS_BYTES) {
            errno = EFBIG;
            die("reading programs");
        }
        if (!(input = realloc(input, room)))
            die("memory");
        ssize_t n = read(0, input + input_size, room - input_size);
        if (n < 0)
            die("reading programs");
        if (n == 0)
            return;
        input_size += (size_t)n;
    }
}

static const uint8_t *take(size_t size) {
    if (size > input_size - input_at) {
        errno = EBADMSG;
        die("a program is cut short");
    }
    input_at += size;
    return input + input_at - size;
}

static uint32_t take_number(void) {
    uint32_t number;
    memcpy(&number, take(4), 4);
    return number;
}

static void put(const void *data, size_t size) {
    static uint8_t buffer[1 << 16];
    static size_t used;
    const uint8_t *from = data;
    bool flush = !data;
    while (size || flush) {
        if (used == sizeof buffer || flush) {
            for (size_t at = 0; at < used;) {
                ssize_t n = write(out_fd, buffer + at, used - at);
                if (n < 0)
                    die("writing results");
                at += (size_t)n;
            }
            used = 0;
            flush = false;
        }
        size_t part = size < sizeof buffer - used ? size : sizeof buffer - used;
        if (part)
            memcpy(buffer + used, from, part);
        used += part;
        from = from ? from + part : NULL;
        size -= part;
    }
}

static void put_number(uint32_t number) { put(&number, 4); }

static void put_result(uint32_t index, pid_t child, int ended, const struct listing *changed) {
    uint32_t done = results->done <= MAX_CALLS ? results->done : MAX_CALLS;
    put("PROG", 4);
    put_number(index);
    put_number((uint32_t)child);
    put_number((uint32_t)getpid());
    put_number((uint32_t)ended);
    put_number(results->started);
    put_number(done);
    for (uint32_t i = 0; i < done; i++) {
        const struct answer *answer = &results->answers[i];
        uint32_t count = answer->count <= MAX_WORDS ? answer->count : MAX_WORDS;
        put(&answer->result, 8);
        put_number(count);
        put_number(answer->more);
        put(answer->words, count * sizeof *answer->words);
    }
    put_number(changed ? (uint32_t)changed->used : UINT32_MAX);
    if (changed)
        put(changed->text, changed->used);
    put(NULL, 0);
}

static void forget_results(void) {
    for (int i = 0; i < MAX_CALLS; i++) {
        results->answers[i].result = -ENOSYS;
        results->answers[i].count = results->answers[i].more = 0;
    }
    results->started = results->done = 0;
}

static void run_program(uint32_t index, uint32_t timeout_ms, const struct listing *fresh) {
    static struct listing now;
    uint32_t flags = take_number(), patches = take_number(), count = take_number();
    const uint8_t *image = input + input_at;
    for (uint32_t i = 0; i < patches; i++) {
        uint32_t at = take_number(), length = take_number();
        if (at > ARENA_SIZE || length > ARENA_SIZE - at) {
            errno = EBADMSG;
            die("program %u writes outside the arena", index);
        }
        take(length);
    }
    struct call calls[MAX_CALLS];
    if (count > MAX_CALLS) {
        errno = EBADMSG;
        die("program %u has %u calls", index, count);
    }
    memcpy(calls, take(count * sizeof *calls), count * sizeof *calls);
    forget_results();
    pid_t child = fork();
    if (child < 0)
        die("starting program %u", index);
    if (child == 0)
        in_child(image, patches, calls, count);
    int ended = await(child, timeout_ms);
    if (flags & USES_IPC)
        clear_ipc();
    list_scratch(&now);
    bool changed = now.used != fresh->used || memcmp(now.text, fresh->text, now.used) != 0;
    put_result(index, child, ended, changed ? &now : NULL);
    if (changed || flags & TOUCHES_ATTRIBUTES)
        reset_scratch();
    if (flags & TOUCHES_ATTRIBUTES)
        chmod("/dev/ptmx", 0666); /* the one file outside that a program may own */
}

static void map_at(unsigned long place, size_t size, int sharing) {
    int flags = MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | sharing;
    void *found = mmap((void *)place, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (found != (void *)place) {
        errno = found == MAP_FAILED ? errno : EEXIST;
        die("mapping %#lx", place);
    }
}

int main(int argc, char **argv) {
    static struct listing fresh;
    bool oracle = argc == 2 && strcmp(argv[1], "--oracle") == 0;
    if (!oracle && (argc != 2 || strcmp(argv[1], "--inside") != 0)) {
        fputs("usage: executor --inside | --oracle < programs > results\n", stderr);
        return 2;
    }
    umask(022);
    if (oracle)
        become_oracle();
    require_no_rights();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        die("setting no_new_privs");
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_NAME, "executor", 0, 0, 0);
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, NULL);
    for (int number = 1; number < 65; number++)
        if (number != SIGKILL && number != SIGSTOP)
            signal(number, SIG_DFL); /* what the caller ignores is not ignored by programs */
    map_at(RESULTS_AT, (sizeof *results + PAGE - 1) / PAGE * PAGE, MAP_SHARED);
    map_at(ARENA_AT, ARENA_SIZE, MAP_PRIVATE);
    map_at(REGION_AT, REGION_SIZE, MAP_PRIVATE);
    out_fd = fcntl(1, F_DUPFD_CLOEXEC, 3);
    if (out_fd < 0)
        die("keeping the output");
    read_input();
    if (memcmp(take(4), "WFZ1", 4) != 0) {
        errno = EBADMSG;
        die("these are no programs");
    }
    uint32_t count = take_number(), timeout_ms = take_number();
    reset_scratch();
    list_scratch(&fresh);
    put("WFR1", 4);
    for (uint32_t i = 0; i < count; i++)
        run_program(i, timeout_ms, &fresh);
    put("DONE", 4);
    put(NULL, 0);
    return 0;
}
