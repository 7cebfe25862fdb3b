/* Reading the name that a DNS question asks for: the packet is the guest's. */
#include "fuzz.h"

#include "../dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const size_t rooms[] = {1, 2, 17, 255, 4095};
    uint8_t *packet = malloc(size ? size : 1);
    memcpy(packet, data, size);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        char *name = malloc(rooms[i]);
        size_t len = dns_question(packet, size, name, rooms[i]);
        HOLDS(len < rooms[i]);
        free(name);
    }
    free(packet);
    return 0;
}
