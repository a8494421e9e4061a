#include "PlainSQLite.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct PlainStore {
    sqlite3 *database;
    sqlite3_stmt *write;
    sqlite3_stmt *read;
};

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    return statement;
}

PlainStore *plain_open(const char *path) {
    PlainStore *store = calloc(1, sizeof *store);
    if (!store) return NULL;
    if (sqlite3_open(path, &store->database) != SQLITE_OK
        || sqlite3_exec(
               store->database,
               "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
               "CREATE TABLE entries (key TEXT PRIMARY KEY, value BLOB, expires REAL)",
               NULL, NULL, NULL)
            != SQLITE_OK) {
        plain_close(store);
        return NULL;
    }
    store->write = prepare(
        store->database,
        "INSERT INTO entries VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE SET value = ?2, expires = ?3");
    store->read = prepare(store->database, "SELECT value FROM entries WHERE key = ?1 AND expires > ?2");
    return store;
}

int plain_write(PlainStore *store, const char *key, const void *value, int count) {
    sqlite3_bind_text(store->write, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_blob(store->write, 2, value, count, SQLITE_STATIC);
    sqlite3_bind_double(store->write, 3, 2e9);
    int code = sqlite3_step(store->write);
    sqlite3_reset(store->write);
    return code == SQLITE_DONE ? 0 : code;
}

int plain_read(PlainStore *store, const char *key) {
    sqlite3_bind_text(store->read, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_double(store->read, 2, 1.7e9);
    int count = -1;
    if (sqlite3_step(store->read) == SQLITE_ROW) {
        const void *bytes = sqlite3_column_blob(store->read, 0);
        count = sqlite3_column_bytes(store->read, 0);
        char *copy = malloc((size_t)count + 1);
        if (copy) {
            memcpy(copy, bytes, (size_t)count);
            /* Keeps the compiler from removing the copy. */
            __asm__ volatile("" : : "r"(copy) : "memory");
        }
        free(copy);
    }
    sqlite3_reset(store->read);
    return count;
}

void plain_checkpoint(PlainStore *store) {
    sqlite3_exec(store->database, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
}

void plain_close(PlainStore *store) {
    sqlite3_finalize(store->write);
    sqlite3_finalize(store->read);
    sqlite3_close(store->database);
    free(store);
}
