#pragma once
#include <stdbool.h>

// How often this thread has asked the heap for memory since it began.
unsigned long allocations_of_this_thread(void);

// Whether anything is counted: not beside the address sanitizer, which has an allocator of its own.
bool allocations_are_counted(void);
