/* bind: addresses for sockets, of loopback, of paths and of names. */
#define CAPABILITY "syscall_bind"
#include "_runner_c.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Loopback has many addresses. Each process takes one of its own, since ports may be few. */
#define HERE (INADDR_LOOPBACK | ((unsigned)getpid() & 0xffff) << 8)

static struct sockaddr_in v4(unsigned address, int port) {
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((unsigned short)port),
                                .sin_addr.s_addr = htonl(address)};
}

static int make(int family, int type) {
    return (int)works(socket(family, type, 0), "socket");
}

static long to(int fd, const void *address, size_t size) {
    return syscall(SYS_bind, fd, address, size);
}

CHECK(takes_a_free_port_of_loopback) {
    struct sockaddr_in any = v4(HERE, 0), got;
    socklen_t size = sizeof got;
    int fd = make(AF_INET, SOCK_STREAM);
    works(to(fd, &any, sizeof any), "bind");
    works(getsockname(fd, (void *)&got, &size), "getsockname");
    want(got.sin_port != 0 && got.sin_addr.s_addr == htonl(HERE), "another address");
}

CHECK(takes_a_port_of_ipv6_loopback) {
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT}, got;
    socklen_t size = sizeof got;
    int fd = make(AF_INET6, SOCK_DGRAM);
    long result = to(fd, &any, sizeof any);
    if (result < 0 && errno == EADDRNOTAVAIL)
        unavailable("IPv6 is turned off here");
    works(result, "bind");
    works(getsockname(fd, (void *)&got, &size), "getsockname");
    want(got.sin6_port != 0, "no port");
}

CHECK(makes_a_name_in_the_file_system) {
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    struct stat info = {0};
    snprintf(path.sun_path, sizeof path.sun_path, "%s", scratch("bind"));
    long result = to(make(AF_UNIX, SOCK_STREAM), &path, sizeof path);
    int number = errno;
    stat(path.sun_path, &info);
    unlink(path.sun_path);
    errno = number;
    works(result, "bind");
    want(S_ISSOCK(info.st_mode), "no socket is there");
}

CHECK(takes_a_name_without_a_path) {
    struct sockaddr_un name = {.sun_family = AF_UNIX}, got;
    socklen_t size = sizeof got;
    int length = snprintf(name.sun_path + 1, 100, "wardian-%d", (int)getpid());
    socklen_t used = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    int fd = make(AF_UNIX, SOCK_STREAM);
    works(to(fd, &name, used), "bind");
    works(getsockname(fd, (void *)&got, &size), "getsockname");
    want(size == used && memcmp(&got, &name, used) == 0, "another name");
}

CHECK(chooses_a_name_if_none_is_given) {
    struct sockaddr_un none = {.sun_family = AF_UNIX}, got;
    socklen_t size = sizeof got;
    int fd = make(AF_UNIX, SOCK_DGRAM);
    works(to(fd, &none, sizeof none.sun_family), "bind");
    works(getsockname(fd, (void *)&got, &size), "getsockname");
    want(size == sizeof none.sun_family + 6 && got.sun_path[0] == 0, "%u bytes", size);
}

CHECK(refuses_a_port_that_is_taken) {
    struct sockaddr_in any = v4(HERE, 0);
    socklen_t size = sizeof any;
    int fd = make(AF_INET, SOCK_STREAM);
    works(to(fd, &any, sizeof any), "bind");
    works(getsockname(fd, (void *)&any, &size), "getsockname");
    refuses(to(make(AF_INET, SOCK_STREAM), &any, sizeof any), EADDRINUSE, "the same port");
}

CHECK(refuses_a_second_address) {
    struct sockaddr_in any = v4(HERE, 0);
    int fd = make(AF_INET, SOCK_STREAM);
    works(to(fd, &any, sizeof any), "bind");
    refuses(to(fd, &any, sizeof any), EINVAL, "again");
}

CHECK(refuses_another_machine_s_address) {
    struct sockaddr_in other = v4(0xc0000201, 0); /* 192.0.2.1, of documentation */
    refuses(to(make(AF_INET, SOCK_STREAM), &other, sizeof other), EADDRNOTAVAIL, "192.0.2.1");
}

CHECK(refuses_a_path_that_is_taken) {
    struct sockaddr_un path = {.sun_family = AF_UNIX, .sun_path = "/"};
    refuses(to(make(AF_UNIX, SOCK_STREAM), &path, sizeof path), EADDRINUSE, "/");
}

CHECK(refuses_a_path_in_no_directory) {
    struct sockaddr_un path = {.sun_family = AF_UNIX, .sun_path = "/nonexistent/socket"};
    refuses(to(make(AF_UNIX, SOCK_STREAM), &path, sizeof path), ENOENT, "/nonexistent/socket");
}

CHECK(refuses_an_address_too_short) {
    struct sockaddr_in any = v4(HERE, 0);
    refuses(to(make(AF_INET, SOCK_STREAM), &any, 4), EINVAL, "4 bytes");
}

CHECK(refuses_another_family) {
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    refuses(to(make(AF_INET, SOCK_STREAM), &path, sizeof path), EAFNOSUPPORT, "a path for TCP");
}

CHECK(refuses_what_is_no_socket) {
    struct sockaddr_in any = v4(HERE, 0);
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(to(-1, &any, sizeof any), EBADF, "-1");
    refuses(to(ends[0], &any, sizeof any), ENOTSOCK, "a pipe");
}

CHECK(refuses_a_bad_address) {
    refuses(to(make(AF_INET, SOCK_STREAM), (void *)8, 16), EFAULT, "an address at 8");
}

CHECKS
