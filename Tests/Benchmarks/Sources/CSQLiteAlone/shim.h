#pragma once
// The bare loop that a decision on SQLite is measured against.
#include <sqlite3.h>
