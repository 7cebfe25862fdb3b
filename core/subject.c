/* Reads a call's arguments from the guest's memory, before the call goes on: afterwards they may be gone. */
#define _GNU_SOURCE
#include "fortify.h"
#include "subject.h"
#include "call.h"
#include "dns.h"
#include "paths.h"
#include "tasks.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static void read_paths(struct subject *about) {
    const struct watched *w = about->watched;
    const uint64_t *args = about->call.args;
    if (w->path >= 0)
        about->has_path = path_of(about->call.task, w->dir < 0 ? AT_FDCWD : (int)args[w->dir],
                                    args[w->path], about->path);
    if (w->other >= 0)
        about->has_other = path_of(about->call.task,
                                     w->other_dir < 0 ? AT_FDCWD : (int)args[w->other_dir],
                                     args[w->other], about->other);
}

static void read_address(struct subject *about, uint64_t address, uint64_t len) {
    if (!address || len == 0)
        return;
    len = (uint32_t)len; /* as the kernel reads it: the upper half is whatever the guest put there */
    ssize_t n = task_bytes(about->call.task, address, about->address,
                           len < MAX_ADDRESS ? (size_t)len : MAX_ADDRESS);
    about->address_len = n > 0 ? (size_t)n : 0;
}

static void read_question(struct subject *about, uint64_t buffer, uint64_t size) {
    unsigned char packet[512];
    ssize_t n = task_bytes(about->call.task, buffer, packet, size < sizeof packet ? (size_t)size : sizeof packet);
    size_t len = n > 0 ? dns_question(packet, (size_t)n, about->other, sizeof about->other - 1) : 0;
    about->other[len] = '\0';
    about->has_other = len > 0;
}

bool read_message(struct subject *about, uint64_t index) {
    struct mmsghdr one;
    struct iovec part;
    bool many = about->call.number == SYS_sendmmsg;
    size_t size = many ? sizeof one : sizeof one.msg_hdr;
    about->address_len = 0;
    about->has_path = about->has_other = false;
    if (task_bytes(about->call.task, about->call.args[1] + index * size, &one, size) != (ssize_t)size)
        return false;
    const struct msghdr *message = &one.msg_hdr;
    read_address(about, (uint64_t)(uintptr_t)message->msg_name, message->msg_namelen);
    if ((about->address_len || many) && message->msg_iovlen > 0 &&
        task_bytes(about->call.task, (uint64_t)(uintptr_t)message->msg_iov, &part, sizeof part) == sizeof part)
        read_question(about, (uint64_t)(uintptr_t)part.iov_base, part.iov_len);
    return true;
}

void read_subject(struct subject *about) {
    const uint64_t *args = about->call.args;
    switch (about->watched->kind) {
    case WATCH_CONNECT:
    case WATCH_BIND:
        read_address(about, args[1], args[2]);
        break;
    case WATCH_SEND:
        read_address(about, args[4], args[5]);
        read_question(about, args[1], args[2]);
        break;
    case WATCH_MESSAGES:
        read_message(about, 0);
        break;
    case WATCH_SIGNAL:
    case WATCH_FORK:
    case WATCH_MAP:
    case WATCH_EXIT:
    case WATCH_OTHER:
        break;
    default:
        read_paths(about);
    }
}
