#pragma once
#include <sqlite3.h>

// Swift does not import variadic functions such as sqlite3_db_config and sqlite3_config.

/// Leaves the log unchanged when the last connection closes; the next connection reads it from the beginning.
static inline int watchword_keep_log(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// Sets the functions that allocate memory, before SQLite is initialised.
static inline int watchword_use_memory(const sqlite3_mem_methods *methods) {
    return sqlite3_config(SQLITE_CONFIG_MALLOC, methods);
}

/// Prepares a connection for a file that may be hostile (https://sqlite.org/security.html).
static inline int watchword_distrust(sqlite3 *connection) {
    static const struct { int option, value; } settings[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_DQS_DDL, 0},        {SQLITE_DBCONFIG_DQS_DML, 0},
    };
    for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++) {
        int code = sqlite3_db_config(connection, settings[i].option, settings[i].value, (int *)0);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}
