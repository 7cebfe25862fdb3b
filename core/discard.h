/* Removing a directory that only the caller would have removed. */
#ifndef WARDIAN_DISCARD_H
#define WARDIAN_DISCARD_H

void discard_remember(const char *path); /* while it is certain what stands there */
void discard_tree(void);

#endif
