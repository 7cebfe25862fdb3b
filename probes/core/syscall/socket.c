/* socket: sockets of the families that programs use. */
#define CAPABILITY "syscall_socket"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int make(int family, int type, int protocol) {
    return (int)works(syscall(SYS_socket, family, type, protocol), "socket");
}

static int option(int fd, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    works(getsockopt(fd, SOL_SOCKET, name, &value, &size), "getsockopt");
    return value;
}

static void has(int fd, int family, int type) {
    want(option(fd, SO_DOMAIN) == family && option(fd, SO_TYPE) == type, "another kind");
}

CHECK(makes_unix_sockets_of_each_type) {
    has(make(AF_UNIX, SOCK_STREAM, 0), AF_UNIX, SOCK_STREAM);
    has(make(AF_UNIX, SOCK_DGRAM, 0), AF_UNIX, SOCK_DGRAM);
    has(make(AF_UNIX, SOCK_SEQPACKET, 0), AF_UNIX, SOCK_SEQPACKET);
}

CHECK(makes_tcp_sockets) {
    int fd = make(AF_INET, SOCK_STREAM, 0);
    has(fd, AF_INET, SOCK_STREAM);
    want(option(fd, SO_PROTOCOL) == IPPROTO_TCP, "protocol %d", option(fd, SO_PROTOCOL));
    has(make(AF_INET, SOCK_STREAM, IPPROTO_TCP), AF_INET, SOCK_STREAM);
}

CHECK(makes_udp_sockets) {
    int fd = make(AF_INET, SOCK_DGRAM, 0);
    has(fd, AF_INET, SOCK_DGRAM);
    want(option(fd, SO_PROTOCOL) == IPPROTO_UDP, "protocol %d", option(fd, SO_PROTOCOL));
}

CHECK(makes_ipv6_sockets) {
    has(make(AF_INET6, SOCK_STREAM, 0), AF_INET6, SOCK_STREAM);
    has(make(AF_INET6, SOCK_DGRAM, IPPROTO_UDP), AF_INET6, SOCK_DGRAM);
}

CHECK(makes_sockets_that_ask_about_routes) {
    has(make(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), AF_NETLINK, SOCK_RAW);
}

CHECK(makes_a_descriptor_that_is_a_socket) {
    struct stat info;
    works(fstat(make(AF_UNIX, SOCK_STREAM, 0), &info), "fstat");
    want(S_ISSOCK(info.st_mode), "mode %o", info.st_mode);
}

CHECK(sets_the_flags_asked_for) {
    int fd = make(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC && fcntl(fd, F_GETFL) & O_NONBLOCK, "not set");
    want(fcntl(make(AF_UNIX, SOCK_STREAM, 0), F_GETFD) == 0, "set unasked");
}

CHECK(refuses_families_that_are_none) {
    refuses(syscall(SYS_socket, 9999, SOCK_STREAM, 0), EAFNOSUPPORT, "family 9999");
}

CHECK(refuses_types_that_are_none) {
    refuses(syscall(SYS_socket, AF_UNIX, 9, 0), ESOCKTNOSUPPORT, "type 9");
}

CHECK(refuses_flags_that_are_none) {
    refuses(syscall(SYS_socket, AF_UNIX, SOCK_STREAM | 0x100, 0), EINVAL, "flag 0x100");
}

CHECK(refuses_a_protocol_of_another_type) {
    refuses(syscall(SYS_socket, AF_INET, SOCK_STREAM, IPPROTO_UDP), EPROTONOSUPPORT, "UDP");
    refuses(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 99), EPROTONOSUPPORT, "protocol 99");
}

CHECK(refuses_more_than_may_be_open) {
    struct rlimit few = {0, 0};
    works(setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
    refuses(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0), EMFILE, "where none may be open");
}

CHECKS
