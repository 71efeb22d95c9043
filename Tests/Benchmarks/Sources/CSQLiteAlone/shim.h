#pragma once
// The benchmark compares decisions with a bare loop of updates.
#include <sqlite3.h>
