#pragma once
#include <sqlite3.h>

// Swift does not import variadic functions such as sqlite3_db_config.

/// Leaves the log unchanged when the last connection closes; the next connection reads it from the beginning.
static inline int watchword_keep_log(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
