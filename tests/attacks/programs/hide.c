/* Asks for a file in one of many ways, each meant to keep that out of the report. Ends with 0 if the
 * file was refused. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char path[8192];
static const long mark = 0x7761726400000000L; /* what the launcher used to mark its own calls with */

static const char *below(const char *prefix, const char *file) {
    snprintf(path, sizeof path, "%s%s", prefix, file);
    return path;
}

static long from_deep(const char *file, int levels) {
    char part[251], way[8192] = "";
    memset(part, 'd', 250);
    part[250] = '\0';
    chdir("/tmp");
    for (int i = 0; i < levels; i++) {
        mkdir(part, 0755);
        chdir(part);
        strcat(way, "../");
    }
    return open(strcat(strcat(way, ".."), file), O_RDONLY);
}

static long from_write_only_memory(const char *file) {
    size_t size = strlen(file) + 1;
    char *page = mmap(NULL, 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page + 4096 - size, file, size); /* and it ends where the page ends */
    return open(page + 4096 - size, O_RDONLY);
}

static long through_own_listener(const char *file) {
    struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)};
    struct sock_fprog program = {1, all};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) >= 0)
        exit(3);
    return open(file, O_RDONLY);
}

static long ask(const char *how, const char *file) {
    int root = open("/", O_PATH | O_DIRECTORY);
    char *link = path + 4096;
    if (!strcmp(how, "plain"))
        return open(file, O_RDONLY);
    if (!strcmp(how, "marked"))
        return syscall(SYS_openat, (long)AT_FDCWD, file, mark);
    if (!strcmp(how, "marked-write"))
        return syscall(SYS_openat, (long)AT_FDCWD, file, mark | O_RDWR);
    if (!strcmp(how, "high-bits"))
        return syscall(SYS_openat, (long)root | 0x5500000000L, file + 1, 0x5500000000L);
    if (!strcmp(how, "own-root"))
        return open(below("/proc/self/root", file), O_RDONLY);
    if (!strcmp(how, "thread-root"))
        return open(below("/proc/thread-self/root", file), O_RDONLY);
    if (!strcmp(how, "own-directory"))
        return open(below("/proc/self/cwd/..", file), O_RDONLY);
    if (!strcmp(how, "link-to-root")) {
        symlink("/proc/self/root", "/tmp/link");
        return open(below("/tmp/link", file), O_RDONLY);
    }
    if (!strcmp(how, "numbered-root")) {
        snprintf(link, 64, "/usr/../proc/%d/task/./%d/root/", getpid(), getpid());
        return open(below(link, file), O_RDONLY);
    }
    if (!strcmp(how, "descriptor")) {
        snprintf(link, 64, "/dev/fd/%d", root);
        return open(below(link, file), O_RDONLY);
    }
    if (!strcmp(how, "write-only-memory"))
        return from_write_only_memory(file);
    if (!strcmp(how, "not-dumpable")) {
        prctl(PR_SET_DUMPABLE, 0);
        return open(file, O_RDONLY);
    }
    if (!strcmp(how, "deep"))
        return from_deep(file, 15);
    if (!strcmp(how, "too-deep"))
        return from_deep(file, 20);
    if (!strcmp(how, "removed")) {
        mkdir("/tmp/gone", 0755);
        chdir("/tmp/gone");
        rmdir("/tmp/gone");
        return open(below("../..", file), O_RDONLY);
    }
    if (!strcmp(how, "own-listener"))
        return through_own_listener(file);
    if (!strcmp(how, "look"))
        return open(file, O_PATH);
    exit(2);
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    long fd = ask(argv[1], argv[2]);
    printf("%ld %s\n", fd, fd < 0 ? strerror(errno) : "opened");
    return fd < 0 ? 0 : 1;
}
