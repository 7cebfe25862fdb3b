/* A server and a client can talk over TCP on the loopback, by system calls. */
#define CAPABILITY "network_loopback"
#include "_runner_c.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

static void exercise(void) {
    char got[6] = "";
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    if (server < 0 || client < 0)
        blocked("socket");
    if (bind(server, (struct sockaddr *)&address, size) < 0 || listen(server, 1) < 0)
        blocked("bind");
    getsockname(server, (struct sockaddr *)&address, &size);
    if (connect(client, (struct sockaddr *)&address, size) < 0)
        blocked("connect");
    int accepted = accept(server, NULL, NULL);
    if (write(client, "hello", 5) != 5 || read(accepted, got, 5) != 5)
        blocked("read");
    allowed("TCP on 127.0.0.1");
}

PROBE(exercise)
