#pragma once
#include <sqlite3.h>

// sqlite3_db_config takes arguments as printf does, which Swift does not import.

/// Leaves the log as it is when the last connection closes: the next one reads it from its beginning.
static inline int watchword_keep_log(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
