/* The few C library functions that the launcher uses, as plain system calls.
 *
 * A C library starts up before main: on a virtual machine, where each CPUID traps, that alone costs
 * 0.5 ms, as much as all our mounts. The launcher is single-threaded in every process, formats little
 * and allocates nothing, so it brings its own. Machines that this file does not know link the
 * system's; a build with libc_hosted.h has both, and runs this one under the sanitizers.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KERNEL_SIGSET_BYTES = 8 };

static long page_bytes = 4096;

#if defined(__x86_64__)
static inline long raw(long n, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static inline long raw(long n, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
#else
#error "no entry point for this machine; link the system's C library instead (make LIBC=system)"
#endif

#ifdef WARDIAN_HOSTED
#define last_error errno
#else
int main(int argc, char **argv);
void start_c(long *stack);
static int last_error;

int *__errno_location(void) { return &last_error; }

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call start_c\n hlt\n");
#else
__asm__(".globl _start\n_start:\n mov x29, #0\n mov x30, #0\n mov x0, sp\n bl start_c\n brk #0\n");
#endif

/* The canary: random bytes from the kernel, the first one NUL so that no string function writes it. */
uintptr_t __stack_chk_guard;

_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void) { __builtin_trap(); }

/* Position-independent without a loader: relocates the addresses in our data before anything uses them, then
 * makes what only relocation changes read-only, as ld.so(8) does. */

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
extern const Elf64_Dyn _DYNAMIC[] __attribute__((visibility("hidden")));

#ifdef __x86_64__
enum { RELATIVE = R_X86_64_RELATIVE };
#else
enum { RELATIVE = R_AARCH64_RELATIVE };
#endif

static void relocate(uintptr_t base) {
    uintptr_t table = 0, size = 0;
    for (const Elf64_Dyn *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_RELA)
            table = base + entry->d_un.d_ptr;
        else if (entry->d_tag == DT_RELASZ)
            size = entry->d_un.d_val;
    }
    for (uintptr_t at = table; at < table + size; at += sizeof(Elf64_Rela)) {
        const Elf64_Rela *one = (const Elf64_Rela *)at;
        if (ELF64_R_TYPE(one->r_info) != RELATIVE)
            __builtin_trap();
        *(uintptr_t *)(base + one->r_offset) = base + (uintptr_t)one->r_addend;
    }
}

static void close_relocated(uintptr_t base) {
    const Elf64_Phdr *part = (const Elf64_Phdr *)(base + __ehdr_start.e_phoff);
    for (unsigned i = 0; i < __ehdr_start.e_phnum; i++, part++) {
        uintptr_t page = (uintptr_t)page_bytes, start = (base + part->p_vaddr) & ~(page - 1);
        uintptr_t end = (base + part->p_vaddr + part->p_memsz) & ~(page - 1);
        if (part->p_type == PT_GNU_RELRO && end > start &&
            raw(SYS_mprotect, (long)start, (long)(end - start), PROT_READ, 0, 0, 0) != 0)
            __builtin_trap();
    }
}

/* Sets the canary that others check, so it has none of its own. */
#if defined(__has_attribute) && __has_attribute(no_stack_protector)
__attribute__((no_stack_protector))
#endif
void start_c(long *stack) {
    relocate((uintptr_t)&__ehdr_start);
    int argc = (int)stack[0];
    char **argv = (char **)(stack + 1);
    long *aux = stack + argc + 2;
    while (*aux)
        aux++; /* the environment */
    for (aux++; aux[0] != AT_NULL; aux += 2) {
        if (aux[0] == AT_PAGESZ)
            page_bytes = aux[1];
        else if (aux[0] == AT_RANDOM)
            memcpy(&__stack_chk_guard, (const void *)aux[1], sizeof __stack_chk_guard);
    }
    __stack_chk_guard &= ~(uintptr_t)0xff;
    close_relocated((uintptr_t)&__ehdr_start);
    _exit(main(argc, argv));
}
#endif

static long checked(long result) {
    if (result < 0 && result > -4096) {
        last_error = (int)-result;
        return -1;
    }
    return result;
}

#define CALL6(n, a, b, c, d, e, f) \
    checked(raw((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))
#define CALL4(n, a, b, c, d) CALL6(n, a, b, c, d, 0, 0)
#define CALL3(n, a, b, c) CALL6(n, a, b, c, 0, 0, 0)
#define CALL2(n, a, b) CALL6(n, a, b, 0, 0, 0, 0)
#define CALL1(n, a) CALL6(n, a, 0, 0, 0, 0, 0)

long syscall(long n, ...) {
    va_list args;
    va_start(args, n);
    long a = va_arg(args, long), b = va_arg(args, long), c = va_arg(args, long);
    long d = va_arg(args, long), e = va_arg(args, long), f = va_arg(args, long);
    va_end(args);
    return CALL6(n, a, b, c, d, e, f);
}

/* Files */

int openat(int dir, const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | 020000000) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return (int)CALL4(SYS_openat, dir, path, flags, mode);
}
/* Never creates: files are created with openat. */
int open(const char *path, int flags, ...) { return openat(AT_FDCWD, path, flags, 0); }
int close(int fd) { return (int)CALL1(SYS_close, fd); }
ssize_t read(int fd, void *to, size_t n) { return CALL3(SYS_read, fd, to, n); }
ssize_t write(int fd, const void *from, size_t n) { return CALL3(SYS_write, fd, from, n); }
ssize_t pread(int fd, void *to, size_t n, off_t at) { return CALL4(SYS_pread64, fd, to, n, at); }
off_t lseek(int fd, off_t at, int from) { return CALL3(SYS_lseek, fd, at, from); }
ssize_t splice(int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned flags) {
    return CALL6(SYS_splice, in, in_at, out, out_at, n, flags);
}
int pipe2(int ends[2], int flags) { return (int)CALL2(SYS_pipe2, ends, flags); }
int dup2(int fd, int to) {
    return fd == to ? to : (int)CALL3(SYS_dup3, fd, to, 0);
}
int fcntl(int fd, int command, ...) {
    va_list args;
    va_start(args, command);
    long argument = va_arg(args, long);
    va_end(args);
    return (int)CALL3(SYS_fcntl, fd, command, argument);
}
int ioctl(int fd, unsigned long request, ...) {
    va_list args;
    va_start(args, request);
    void *argument = va_arg(args, void *);
    va_end(args);
    return (int)CALL3(SYS_ioctl, fd, request, argument);
}
int fstatat(int dir, const char *path, struct stat *st, int flags) {
    return (int)CALL4(SYS_newfstatat, dir, path, st, flags);
}
int fstat(int fd, struct stat *st) { return fstatat(fd, "", st, AT_EMPTY_PATH); }
int stat(const char *path, struct stat *st) { return fstatat(AT_FDCWD, path, st, 0); }
int fstatfs(int fd, struct statfs *fs) { return (int)CALL2(SYS_fstatfs, fd, fs); }
int mkdirat(int dir, const char *path, mode_t mode) { return (int)CALL3(SYS_mkdirat, dir, path, mode); }
int fchmodat(int dir, const char *path, mode_t mode, int flags) {
    (void)flags;
    return (int)CALL3(SYS_fchmodat, dir, path, mode);
}
int symlinkat(const char *target, int dir, const char *path) {
    return (int)CALL3(SYS_symlinkat, target, dir, path);
}
ssize_t readlinkat(int dir, const char *path, char *to, size_t n) {
    return CALL4(SYS_readlinkat, dir, path, to, n);
}
int unlinkat(int dir, const char *path, int flags) { return (int)CALL3(SYS_unlinkat, dir, path, flags); }
int rmdir(const char *path) { return (int)CALL3(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR); }
int chdir(const char *path) { return (int)CALL1(SYS_chdir, path); }
int fchdir(int fd) { return (int)CALL1(SYS_fchdir, fd); }
int chroot(const char *path) { return (int)CALL1(SYS_chroot, path); }
mode_t umask(mode_t mask) { return (mode_t)CALL1(SYS_umask, mask); }
int mount(const char *source, const char *target, const char *type, unsigned long flags,
          const void *data) {
    return (int)CALL6(SYS_mount, source, target, type, flags, data, 0);
}
int umount2(const char *target, int flags) { return (int)CALL2(SYS_umount2, target, flags); }

/* Memory */

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset) {
    return (void *)CALL6(SYS_mmap, at, n, protection, flags, fd, offset);
}
void *mremap(void *at, size_t n, size_t new_n, int flags, ...) {
    return (void *)CALL4(SYS_mremap, at, n, new_n, flags);
}
int munmap(void *at, size_t n) { return (int)CALL2(SYS_munmap, at, n); }

/* Processes, identity, limits, time */

#ifndef WARDIAN_HOSTED
_Noreturn void _exit(int code) {
    for (;;)
        raw(SYS_exit_group, code, 0, 0, 0, 0, 0);
}
#endif
pid_t fork(void) { return (pid_t)CALL6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0); }
pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage) {
    return (pid_t)CALL4(SYS_wait4, pid, status, options, usage);
}
pid_t waitpid(pid_t pid, int *status, int options) { return wait4(pid, status, options, NULL); }
pid_t getppid(void) { return (pid_t)CALL1(SYS_getppid, 0); }
pid_t setsid(void) { return (pid_t)CALL1(SYS_setsid, 0); }
int kill(pid_t pid, int signal) { return (int)CALL2(SYS_kill, pid, signal); }
uid_t geteuid(void) { return (uid_t)CALL1(SYS_geteuid, 0); }
gid_t getegid(void) { return (gid_t)CALL1(SYS_getegid, 0); }
int setgroups(size_t n, const gid_t *groups) { return (int)CALL2(SYS_setgroups, n, groups); }
int setresuid(uid_t r, uid_t e, uid_t s) { return (int)CALL3(SYS_setresuid, r, e, s); }
int setresgid(gid_t r, gid_t e, gid_t s) { return (int)CALL3(SYS_setresgid, r, e, s); }
int sethostname(const char *name, size_t n) { return (int)CALL2(SYS_sethostname, name, n); }
int prctl(int option, ...) {
    va_list args;
    va_start(args, option);
    long a = va_arg(args, long), b = va_arg(args, long), c = va_arg(args, long);
    long d = va_arg(args, long);
    va_end(args);
    return (int)CALL6(SYS_prctl, option, a, b, c, d, 0);
}
int getrlimit(__rlimit_resource_t resource, struct rlimit *limit) {
    return (int)CALL4(SYS_prlimit64, 0, resource, NULL, limit);
}
int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
    return (int)CALL4(SYS_prlimit64, 0, resource, limit, NULL);
}
int clock_gettime(clockid_t clock, struct timespec *time) {
    return (int)CALL2(SYS_clock_gettime, clock, time);
}
long sysconf(int name) { return name == _SC_PAGESIZE ? page_bytes : name == _SC_CLK_TCK ? 100 : -1; }

/* Signals: no handler is ever set, so no trampoline is needed */

int sigaction(int signal, const struct sigaction *action, struct sigaction *old) {
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } kernel = {.handler = action->sa_handler};
    (void)old;
    return (int)CALL4(SYS_rt_sigaction, signal, &kernel, NULL, KERNEL_SIGSET_BYTES);
}
int sigemptyset(sigset_t *set) {
    memset(set, 0, sizeof *set);
    return 0;
}
int sigfillset(sigset_t *set) {
    memset(set, 0xff, sizeof *set);
    return 0;
}
int sigaddset(sigset_t *set, int signal) {
    *(uint64_t *)(void *)set |= 1ULL << (signal - 1);
    return 0;
}
int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    return (int)CALL4(SYS_rt_sigprocmask, how, set, old, KERNEL_SIGSET_BYTES);
}
int signalfd(int fd, const sigset_t *set, int flags) {
    return (int)CALL4(SYS_signalfd4, fd, set, KERNEL_SIGSET_BYTES, flags);
}

/* Sockets and waiting */

int socket(int domain, int type, int protocol) { return (int)CALL3(SYS_socket, domain, type, protocol); }
int socketpair(int domain, int type, int protocol, int ends[2]) {
    return (int)CALL4(SYS_socketpair, domain, type, protocol, ends);
}
int setsockopt(int fd, int level, int name, const void *value, socklen_t n) {
    return (int)CALL6(SYS_setsockopt, fd, level, name, value, n, 0);
}
ssize_t send(int fd, const void *from, size_t n, int flags) {
    return CALL6(SYS_sendto, fd, from, n, flags, NULL, 0);
}
ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    return CALL3(SYS_recvmsg, fd, message, flags);
}
int poll(struct pollfd *fds, nfds_t n, int timeout_ms) {
    struct timespec timeout = {.tv_sec = timeout_ms / 1000,
                               .tv_nsec = (long)(timeout_ms % 1000) * 1000000};
    return (int)CALL6(SYS_ppoll, fds, n, timeout_ms < 0 ? NULL : &timeout, NULL, 0, 0);
}
