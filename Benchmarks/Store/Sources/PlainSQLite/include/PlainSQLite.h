#pragma once

/* A table of text keys and values, as a program in C would use SQLite for a cache. */
typedef struct PlainStore PlainStore;

/* Opens a new database in WAL mode, synchronous = NORMAL, with SQLite's other defaults; NULL if that fails. */
PlainStore *plain_open(const char *path);

/* Replaces the value of a key in a transaction of its own; 0 if that succeeds. */
int plain_write(PlainStore *store, const char *key, const void *value, int count);

/* Copies the value of a key to a new block of memory and frees it; returns its size, or -1. */
int plain_read(PlainStore *store, const char *key);

/* Copies the log into the database. */
void plain_checkpoint(PlainStore *store);

void plain_close(PlainStore *store);
