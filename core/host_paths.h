/* Looking on the host for what the guest did not find. */
#ifndef WARDIAN_HOST_PATHS_H
#define WARDIAN_HOST_PATHS_H


void host_home(const char *home); /* what the guest's own home stands for */
int look_on_host(const char *path); /* 0: it is there; else the error */

#endif
