/* evade KIND AMOUNT [HOLD_S]: uses AMOUNT (MB of memory or disk, ms of CPU time, or things) in a way that
 * a count from outside is slow or unable to see. Prints "held" once it has it all, and keeps it for HOLD_S;
 * kinds that use CPU time print how much they have used, in ms, again and again. Bounded by AMOUNT, so
 * that a missing limit can't hurt the machine. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MB (1UL << 20)
static double hold_s = 0.5;
static unsigned long amount;
static char filler[MB];

static void fail(const char *what) {
    perror(what);
    exit(3);
}

static void hold(void) {
    puts("held");
    fflush(stdout);
    usleep((unsigned)(hold_s * 1e6));
    _exit(0);
}

/* Memory */

static void *shared(size_t size, int fd) {
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        fail("mmap");
    return at;
}

static void drop_pages(int fd) {
    char *at = shared(amount * MB, fd);
    for (unsigned long i = 0; i < amount; i++) {
        memset(at + i * MB, 'x', MB);
        madvise(at + i * MB, MB, MADV_DONTNEED);
    }
}
static void dropped(void) { drop_pages(-1); }
static void zero_dropped(void) { drop_pages(open("/dev/zero", O_RDWR)); }

static void unmapped(void) {
    char *at = shared(amount * MB, -1);
    for (unsigned long i = 0; i < amount; i++) {
        memset(at + i * MB, 'x', MB);
        munmap(at + i * MB + 4096, MB - 4096);
    }
}

/* Children fill it, each a part, and are gone; nothing of it stays mapped where they were. */
static void filled_by_children(void) {
    char *at = shared(amount * MB, -1);
    for (unsigned long i = 0; i < amount; i += 10) {
        pid_t child = fork();
        if (child == 0) {
            memset(at + i * MB, 'x', (amount - i < 10 ? amount - i : 10) * MB);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

static void memfd_closed(void) {
    int fd = memfd_create("evade", 0);
    for (unsigned long i = 0; i < amount; i++)
        if (write(fd, filler, MB) != (ssize_t)MB)
            fail("write");
    shared(4096, fd);
    close(fd);
}

static void send_descriptor(int to, int fd) {
    union {
        char bytes[CMSG_SPACE(sizeof fd)];
        struct cmsghdr align;
    } control = {0};
    char byte = 0;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    if (sendmsg(to, &message, MSG_DONTWAIT) < 0)
        fail("sendmsg");
}

static void memfd_in_flight(void) {
    int ends[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    for (unsigned long done = 0; done < amount; done += 20) {
        int fd = memfd_create("evade", 0);
        for (unsigned long i = 0; i < 20; i++)
            if (write(fd, filler, MB) != (ssize_t)MB)
                fail("write");
        send_descriptor(ends[0], fd);
        close(fd);
    }
}

/* Data for connections that nobody accepts; the senders are gone. */
static void unaccepted(int family) {
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *address = family == AF_UNIX ? (struct sockaddr *)&un : (struct sockaddr *)&in;
    socklen_t len = family == AF_UNIX ? sizeof un : sizeof in;
    unsigned long held = 0;
    for (int n = 0; held < amount * MB; n++) {
        int listener = socket(family, SOCK_STREAM, 0);
        snprintf(un.sun_path + 1, sizeof un.sun_path - 1, "evade-%d", n);
        in.sin_port = 0;
        if (bind(listener, address, len) < 0 || listen(listener, 4096) < 0)
            fail("listen");
        if (family == AF_INET)
            getsockname(listener, address, &len);
        for (int i = 0; i < 1000 && held < amount * MB; i++) {
            int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0), big = 1 << 20;
            setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &big, sizeof big);
            if (connect(fd, address, len) < 0 && errno != EINPROGRESS) {
                close(fd);
                break;
            }
            for (ssize_t n2; (n2 = write(fd, filler, 65536)) > 0;)
                held += (unsigned long)n2;
            close(fd);
        }
    }
}
static void unaccepted_unix(void) { unaccepted(AF_UNIX); }
static void unaccepted_tcp(void) { unaccepted(AF_INET); }

static void datagrams(int family) {
    unsigned long held = 0;
    while (held < amount * MB) {
        struct sockaddr_storage at = {0};
        socklen_t len = sizeof at;
        int to = socket(family, SOCK_DGRAM, 0), big = 1 << 20;
        if (to < 0)
            fail("socket");
        setsockopt(to, SOL_SOCKET, SO_RCVBUF, &big, sizeof big);
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        struct sockaddr_un un = {.sun_family = AF_UNIX};
        if (family == AF_INET)
            bind(to, (struct sockaddr *)&in, sizeof in);
        else
            bind(to, (struct sockaddr *)&un, sizeof(sa_family_t)); /* a name of the kernel's choice */
        getsockname(to, (struct sockaddr *)&at, &len);
        int from = socket(family, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        setsockopt(from, SOL_SOCKET, SO_SNDBUF, &big, sizeof big);
        unsigned long before = held;
        for (int i = 0; i < 12; i++) {
            ssize_t n = sendto(from, filler, family == AF_INET ? 60000 : 100000, 0, (struct sockaddr *)&at, len);
            held += n > 0 ? (unsigned long)n : 0;
        }
        close(from);
        if (held == before)
            fail("sendto");
    }
}
static void unix_datagrams(void) { datagrams(AF_UNIX); }
static void udp_datagrams(void) { datagrams(AF_INET); }

/* AMOUNT MB at 1 KB an inode. */
static void inodes(void) {
    char path[64];
    for (unsigned long i = 0; i < amount * 1024; i++) {
        snprintf(path, sizeof path, "/tmp/%lu", i);
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        if (fd < 0)
            fail("open");
        close(fd);
    }
}

/* CPU time */

static volatile long *used_us;

static void burn(long us) {
    struct timespec t;
    long start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    start = now = t.tv_sec * 1000000 + t.tv_nsec / 1000;
    while (now - start < us) {
        for (volatile int i = 0; i < 20000; i++)
            ;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        long next = t.tv_sec * 1000000 + t.tv_nsec / 1000;
        __sync_fetch_and_add(used_us, next - now);
        now = next;
    }
}

static void tell(void) {
    printf("%ld\n", *used_us / 1000);
    fflush(stdout);
}

static void burn_in_children(long us_each, int at_once) {
    used_us = shared(4096, -1);
    long told = 0, started = 0;
    while (*used_us < (long)amount * 1000) {
        if (started * us_each < *used_us + at_once * us_each) {
            if (fork() == 0) {
                burn(us_each);
                _exit(0);
            }
            started++;
        } else {
            usleep(200);
        }
        if (*used_us - told > 20000) {
            told = *used_us;
            tell();
        }
    }
    tell();
    puts("held");
    fflush(stdout);
    _exit(0);
}

static void disown(int flags, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(SIGCHLD, &action, NULL);
}
static void nothing(int signal) { (void)signal; }

static void unwaited(void) { disown(SA_NOCLDWAIT, SIG_DFL); burn_in_children(50000, 2); }
static void unwaited_short(void) { disown(SA_NOCLDWAIT, SIG_DFL); burn_in_children(3000, 2); }
static void unwaited_handled(void) { disown(SA_NOCLDWAIT, nothing); burn_in_children(20000, 2); }
static void ignored(void) { disown(0, SIG_IGN); burn_in_children(20000, 2); }

static void *burn_thread(void *us) { burn(*(long *)us); return NULL; }
static void threads(void) {
    long each = 20000;
    used_us = shared(4096, -1);
    while (*used_us < (long)amount * 1000) {
        pthread_t two[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&two[i], NULL, burn_thread, &each);
        for (int i = 0; i < 2; i++)
            pthread_join(two[i], NULL);
        tell();
    }
    puts("held");
    fflush(stdout);
    _exit(0);
}

/* Orphans, whose parent is gone before they are. */
static void orphans(void) {
    used_us = shared(4096, -1);
    while (*used_us < (long)amount * 1000) {
        pid_t middle = fork();
        if (middle == 0) {
            if (fork() == 0)
                burn(20000);
            _exit(0);
        }
        waitpid(middle, NULL, 0);
        usleep(15000);
        tell();
    }
    puts("held");
    fflush(stdout);
    _exit(0);
}

/* Disk: into /work, by children that nobody waits for; or into files that have no name any more. */

static void write_file(const char *path, unsigned long megabytes) {
    int fd = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
    for (unsigned long i = 0; i < megabytes; i++)
        if (write(fd, filler, MB) != (ssize_t)MB)
            _exit(4);
    close(fd);
}

static void unwaited_files(int flags, void (*handler)(int)) {
    char path[64];
    disown(flags, handler);
    for (unsigned long i = 0; i < amount; i += 2) {
        pid_t child = fork();
        if (child == 0) {
            snprintf(path, sizeof path, "/work/part-%lu", i);
            write_file(path, 2);
            _exit(0);
        }
        usleep(2000);
    }
    usleep(50000);
}
static void unwaited_writers(void) { unwaited_files(SA_NOCLDWAIT, SIG_DFL); }
static void ignored_writers(void) { unwaited_files(0, SIG_IGN); }

static void unnamed_files(void) {
    disown(SA_NOCLDWAIT, SIG_DFL);
    int fd = -1;
    for (unsigned long i = 0; i < amount; i += 2) {
        if (i % 16 == 0) {
            fd = open("/work/unnamed", O_CREAT | O_RDWR | O_APPEND, 0600);
            unlink("/work/unnamed");
        }
        if (fork() == 0) {
            for (int n = 0; n < 2; n++)
                if (write(fd, filler, MB) < 0)
                    _exit(4);
            _exit(0);
        }
        usleep(2000);
    }
    usleep(50000);
}

/* AMOUNT descriptors in flight. */
static void in_flight(void) {
    int ends[2], sent = 0;
    int *kept = malloc(amount * sizeof *kept);
    while ((unsigned long)sent < amount) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
            break;
        union {
            char bytes[CMSG_SPACE(sizeof(int) * 200)];
            struct cmsghdr align;
        } control = {0};
        int fds[200];
        for (int i = 0; i < 200; i++)
            fds[i] = ends[1];
        char byte = 0;
        struct iovec part = {&byte, 1};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fds);
        memcpy(CMSG_DATA(c), fds, sizeof fds);
        if (sendmsg(ends[0], &message, MSG_DONTWAIT) < 0)
            break;
        kept[sent / 200] = ends[0];
        sent += 200;
    }
    printf("%d\n", sent);
    fflush(stdout);
}

static const struct {
    const char *name;
    void (*take)(void);
} kinds[] = {
    {"dropped", dropped},           {"zero-dropped", zero_dropped},       {"unmapped", unmapped},
    {"memfd-closed", memfd_closed}, {"memfd-in-flight", memfd_in_flight}, {"children", filled_by_children},
    {"accept-unix", unaccepted_unix}, {"accept-tcp", unaccepted_tcp},     {"datagrams-unix", unix_datagrams},
    {"datagrams-udp", udp_datagrams}, {"inodes", inodes},                 {"unwaited", unwaited},
    {"unwaited-short", unwaited_short}, {"unwaited-handled", unwaited_handled}, {"ignored", ignored},
    {"threads", threads},           {"orphans", orphans},                 {"unwaited-writers", unwaited_writers},
    {"ignored-writers", ignored_writers}, {"unnamed-files", unnamed_files}, {"in-flight", in_flight},
};

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    amount = strtoul(argv[2], NULL, 10);
    if (argc > 3)
        hold_s = atof(argv[3]);
    memset(filler, 'x', sizeof filler);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, argv[1]) == 0) {
            kinds[i].take();
            hold();
        }
    return 2;
}
