#pragma once
#include <stdbool.h>

// The number of heap allocations in this thread since it started.
unsigned long allocations_of_this_thread(void);

// Whether allocations are counted. They are not under the address sanitizer, which has its own
// allocator.
bool allocations_are_counted(void);
