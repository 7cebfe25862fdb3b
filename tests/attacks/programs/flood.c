/* flood KIND COUNT: makes so many of something and says how many it got. Bounded by its argument. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

static long wanted;

static _Noreturn void wait_for_the_end(void) {
    alarm(20);
    for (;;)
        pause();
}

static int a_process(long i) {
    (void)i;
    pid_t child = fork();
    if (child == 0)
        wait_for_the_end();
    return child < 0 ? -1 : 0;
}

static int a_zombie(long i) {
    (void)i;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return child < 0 ? -1 : 0;
}

static void *idle(void *arg) {
    (void)arg;
    wait_for_the_end();
}

static int a_thread(long i) {
    (void)i;
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 15);
    return pthread_create(&thread, &small, idle, NULL) ? -1 : 0;
}

static int a_descriptor(long i) {
    (void)i;
    return dup(1);
}

static int an_inode(long i) {
    char path[64];
    snprintf(path, sizeof path, "i%ld", i);
    return mknod(path, S_IFREG | 0600, 0);
}

static int a_directory(long i) {
    (void)i;
    return mkdir("d", 0700) < 0 ? -1 : chdir("d");
}

static int an_inotify_instance(long i) {
    (void)i;
    return inotify_init1(0);
}

static int an_inotify_watch(long i) {
    static int instance = -1;
    char path[64];
    snprintf(path, sizeof path, "/tmp/w%ld", i);
    if (instance < 0)
        instance = inotify_init1(0);
    return mkdir(path, 0700) < 0 ? -1 : inotify_add_watch(instance, path, IN_CREATE);
}

static int a_terminal(long i) {
    (void)i;
    return open("/dev/ptmx", O_RDWR | O_NOCTTY);
}

static int a_signal(long i) {
    (void)i;
    union sigval value = {0};
    return sigqueue(getpid(), SIGRTMIN, value);
}

static int a_gap(long i) {
    char path[64];
    snprintf(path, sizeof path, "sparse%ld", i);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    int result = fd < 0 ? -1 : ftruncate(fd, 1L << 40);
    close(fd);
    return result;
}

static int an_allocation(long i) {
    char path[64];
    snprintf(path, sizeof path, "a%ld", i);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    int result = fd < 0 ? -1 : fallocate(fd, 0, 0, 4 << 20);
    close(fd);
    return result;
}

static int a_megabyte_in(int fd) {
    static char megabyte[1 << 20];
    memset(megabyte, 'x', sizeof megabyte);
    return write(fd, megabyte, sizeof megabyte) == (ssize_t)sizeof megabyte ? 0 : -1;
}

static int a_file(long i) {
    char path[64];
    snprintf(path, sizeof path, "f%ld", i);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    int result = fd < 0 ? -1 : a_megabyte_in(fd);
    close(fd);
    return result;
}

/* Gone from every directory, and still on the disk while it is open. */
static int an_unlinked_file(long i) {
    char path[64];
    snprintf(path, sizeof path, "u%ld", i);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    return fd < 0 || unlink(path) < 0 ? -1 : a_megabyte_in(fd);
}

static int more_of_one_file(long i) {
    static int fd = -1;
    (void)i;
    if (fd < 0)
        fd = open("one", O_CREAT | O_WRONLY, 0600);
    return a_megabyte_in(fd);
}

static const struct {
    const char *name;
    int (*make)(long);
} kinds[] = {
    {"processes", a_process},   {"zombies", a_zombie},     {"threads", a_thread},
    {"descriptors", a_descriptor}, {"inodes", an_inode},   {"directories", a_directory},
    {"instances", an_inotify_instance}, {"watches", an_inotify_watch},
    {"terminals", a_terminal},  {"signals", a_signal},     {"gaps", a_gap},
    {"allocations", an_allocation}, {"files", a_file},     {"unlinked", an_unlinked_file},
    {"one", more_of_one_file},
};

int main(int argc, char **argv) {
    wanted = argc >= 3 ? strtol(argv[2], NULL, 10) : 0;
    signal(SIGXFSZ, SIG_IGN);
    sigset_t queued;
    sigemptyset(&queued);
    sigaddset(&queued, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &queued, NULL);
    for (size_t k = 0; argc >= 3 && k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(argv[1], kinds[k].name) != 0)
            continue;
        long made = 0;
        while (made < wanted && kinds[k].make(made) >= 0)
            made++;
        printf("%ld %s\n", made, made < wanted ? strerrorname_np(errno) : "all");
        fflush(stdout);
        if (argc == 4)
            usleep((unsigned)(strtod(argv[3], NULL) * 1e6)); /* hold them so long */
        return 0;
    }
    fputs("usage: flood KIND COUNT [HOLD_S]\n", stderr);
    return 2;
}
