#include "InstructionCounter.h"

// Debian's `valgrind` package contains the header; without it, the test that needs it is skipped.
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>

int instruction_counter_is_there(void) { return RUNNING_ON_VALGRIND != 0; }

void instruction_counter_start(void) {
    CALLGRIND_ZERO_STATS;
    CALLGRIND_TOGGLE_COLLECT;
}

void instruction_counter_stop(void) {
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS;
}
#else
int instruction_counter_is_there(void) { return 0; }
void instruction_counter_start(void) {}
void instruction_counter_stop(void) {}
#endif
