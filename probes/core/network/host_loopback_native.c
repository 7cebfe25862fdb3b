/* A service on the host's loopback can be reached, by system calls. */
#define CAPABILITY "network_host_loopback"
#include "_runner_c.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>

static void exercise(void) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((unsigned short)atoi(witness("PORT")));
    int client = socket(AF_INET, SOCK_STREAM, 0);
    if (client < 0)
        blocked("socket");
    if (connect(client, (struct sockaddr *)&address, sizeof address) < 0)
        blocked("connect");
    allowed("reached a service on the host's loopback");
}

PROBE(exercise)
