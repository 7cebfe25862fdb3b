/* libc.c beside the system's C library: every function of it under a name of its own, so that a
 * sanitizer or a fuzzer sees the code that the launcher brings along (cc -include libc_hosted.h). */
#ifndef WARDIAN_LIBC_HOSTED_H
#define WARDIAN_LIBC_HOSTED_H

#define WARDIAN_HOSTED /* start-up and errno are the system's */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
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

__typeof__(chdir) own_chdir;
__typeof__(chroot) own_chroot;
__typeof__(clock_gettime) own_clock_gettime;
__typeof__(close) own_close;
__typeof__(dup2) own_dup2;
__typeof__(fchdir) own_fchdir;
__typeof__(fchmodat) own_fchmodat;
__typeof__(fcntl) own_fcntl;
__typeof__(fork) own_fork;
__typeof__(fstat) own_fstat;
__typeof__(fstatat) own_fstatat;
__typeof__(fstatfs) own_fstatfs;
__typeof__(getegid) own_getegid;
__typeof__(geteuid) own_geteuid;
__typeof__(getppid) own_getppid;
__typeof__(getrlimit) own_getrlimit;
__typeof__(ioctl) own_ioctl;
__typeof__(kill) own_kill;
__typeof__(lseek) own_lseek;
__typeof__(memcmp) own_memcmp;
__typeof__(memcpy) own_memcpy;
__typeof__(memset) own_memset;
__typeof__(mkdirat) own_mkdirat;
__typeof__(mmap) own_mmap;
__typeof__(mount) own_mount;
__typeof__(mremap) own_mremap;
__typeof__(munmap) own_munmap;
__typeof__(open) own_open;
__typeof__(openat) own_openat;
__typeof__(pipe2) own_pipe2;
__typeof__(poll) own_poll;
__typeof__(prctl) own_prctl;
__typeof__(pread) own_pread;
__typeof__(read) own_read;
__typeof__(readlinkat) own_readlinkat;
__typeof__(recvmsg) own_recvmsg;
__typeof__(rmdir) own_rmdir;
__typeof__(send) own_send;
__typeof__(setgroups) own_setgroups;
__typeof__(sethostname) own_sethostname;
__typeof__(setresgid) own_setresgid;
__typeof__(setresuid) own_setresuid;
__typeof__(setrlimit) own_setrlimit;
__typeof__(setsid) own_setsid;
__typeof__(setsockopt) own_setsockopt;
__typeof__(sigaction) own_sigaction;
__typeof__(sigaddset) own_sigaddset;
__typeof__(sigemptyset) own_sigemptyset;
__typeof__(sigfillset) own_sigfillset;
__typeof__(signalfd) own_signalfd;
__typeof__(sigprocmask) own_sigprocmask;
__typeof__(snprintf) own_snprintf;
__typeof__(socket) own_socket;
__typeof__(socketpair) own_socketpair;
__typeof__(splice) own_splice;
__typeof__(stat) own_stat;
__typeof__(strchr) own_strchr;
__typeof__(strcmp) own_strcmp;
__typeof__(strcspn) own_strcspn;
__typeof__(strlen) own_strlen;
__typeof__(strnlen) own_strnlen;
__typeof__(strrchr) own_strrchr;
__typeof__(strspn) own_strspn;
__typeof__(strstr) own_strstr;
__typeof__(symlinkat) own_symlinkat;
__typeof__(syscall) own_syscall;
__typeof__(sysconf) own_sysconf;
__typeof__(umask) own_umask;
__typeof__(umount2) own_umount2;
__typeof__(unlinkat) own_unlinkat;
__typeof__(vsnprintf) own_vsnprintf;
__typeof__(wait4) own_wait4;
__typeof__(waitpid) own_waitpid;
__typeof__(write) own_write;

#define chdir(...) own_chdir(__VA_ARGS__)
#define chroot(...) own_chroot(__VA_ARGS__)
#define clock_gettime(...) own_clock_gettime(__VA_ARGS__)
#define close(...) own_close(__VA_ARGS__)
#define dup2(...) own_dup2(__VA_ARGS__)
#define fchdir(...) own_fchdir(__VA_ARGS__)
#define fchmodat(...) own_fchmodat(__VA_ARGS__)
#define fcntl(...) own_fcntl(__VA_ARGS__)
#define fork(...) own_fork(__VA_ARGS__)
#define fstat(...) own_fstat(__VA_ARGS__)
#define fstatat(...) own_fstatat(__VA_ARGS__)
#define fstatfs(...) own_fstatfs(__VA_ARGS__)
#define getegid(...) own_getegid(__VA_ARGS__)
#define geteuid(...) own_geteuid(__VA_ARGS__)
#define getppid(...) own_getppid(__VA_ARGS__)
#define getrlimit(...) own_getrlimit(__VA_ARGS__)
#define ioctl(...) own_ioctl(__VA_ARGS__)
#define kill(...) own_kill(__VA_ARGS__)
#define lseek(...) own_lseek(__VA_ARGS__)
#define memcmp(...) own_memcmp(__VA_ARGS__)
#define memcpy(...) own_memcpy(__VA_ARGS__)
#define memset(...) own_memset(__VA_ARGS__)
#define mkdirat(...) own_mkdirat(__VA_ARGS__)
#define mmap(...) own_mmap(__VA_ARGS__)
#define mount(...) own_mount(__VA_ARGS__)
#define mremap(...) own_mremap(__VA_ARGS__)
#define munmap(...) own_munmap(__VA_ARGS__)
#define open(...) own_open(__VA_ARGS__)
#define openat(...) own_openat(__VA_ARGS__)
#define pipe2(...) own_pipe2(__VA_ARGS__)
#define poll(...) own_poll(__VA_ARGS__)
#define prctl(...) own_prctl(__VA_ARGS__)
#define pread(...) own_pread(__VA_ARGS__)
#define read(...) own_read(__VA_ARGS__)
#define readlinkat(...) own_readlinkat(__VA_ARGS__)
#define recvmsg(...) own_recvmsg(__VA_ARGS__)
#define rmdir(...) own_rmdir(__VA_ARGS__)
#define send(...) own_send(__VA_ARGS__)
#define setgroups(...) own_setgroups(__VA_ARGS__)
#define sethostname(...) own_sethostname(__VA_ARGS__)
#define setresgid(...) own_setresgid(__VA_ARGS__)
#define setresuid(...) own_setresuid(__VA_ARGS__)
#define setrlimit(...) own_setrlimit(__VA_ARGS__)
#define setsid(...) own_setsid(__VA_ARGS__)
#define setsockopt(...) own_setsockopt(__VA_ARGS__)
#define sigaction(...) own_sigaction(__VA_ARGS__)
#define sigaddset(...) own_sigaddset(__VA_ARGS__)
#define sigemptyset(...) own_sigemptyset(__VA_ARGS__)
#define sigfillset(...) own_sigfillset(__VA_ARGS__)
#define signalfd(...) own_signalfd(__VA_ARGS__)
#define sigprocmask(...) own_sigprocmask(__VA_ARGS__)
#define snprintf(...) own_snprintf(__VA_ARGS__)
#define socket(...) own_socket(__VA_ARGS__)
#define socketpair(...) own_socketpair(__VA_ARGS__)
#define splice(...) own_splice(__VA_ARGS__)
#define stat(...) own_stat(__VA_ARGS__)
#define strchr(...) own_strchr(__VA_ARGS__)
#define strcmp(...) own_strcmp(__VA_ARGS__)
#define strcspn(...) own_strcspn(__VA_ARGS__)
#define strlen(...) own_strlen(__VA_ARGS__)
#define strnlen(...) own_strnlen(__VA_ARGS__)
#define strrchr(...) own_strrchr(__VA_ARGS__)
#define strspn(...) own_strspn(__VA_ARGS__)
#define strstr(...) own_strstr(__VA_ARGS__)
#define symlinkat(...) own_symlinkat(__VA_ARGS__)
#define syscall(...) own_syscall(__VA_ARGS__)
#define sysconf(...) own_sysconf(__VA_ARGS__)
#define umask(...) own_umask(__VA_ARGS__)
#define umount2(...) own_umount2(__VA_ARGS__)
#define unlinkat(...) own_unlinkat(__VA_ARGS__)
#define vsnprintf(...) own_vsnprintf(__VA_ARGS__)
#define wait4(...) own_wait4(__VA_ARGS__)
#define waitpid(...) own_waitpid(__VA_ARGS__)
#define write(...) own_write(__VA_ARGS__)

#endif
