#pragma once

/// Whether callgrind counts this program's instructions.
int instruction_counter_is_there(void);

/// Begins to count, from zero.
void instruction_counter_start(void);

/// Ends counting, and lets callgrind write down what it has counted.
void instruction_counter_stop(void);
