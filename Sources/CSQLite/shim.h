#pragma once
#include <sqlite3.h>

/* SQLITE_TRANSIENT is a cast that Swift cannot import. */
static inline sqlite3_destructor_type errand_sqlite_transient(void) { return SQLITE_TRANSIENT; }

/* sqlite3_db_config has variable arguments, which Swift cannot call. */
static inline int errand_sqlite_keep_log_at_close(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
