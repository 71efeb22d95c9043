#pragma once

/// Whether callgrind is counting this program's instructions.
int instruction_counter_is_there(void);

/// Starts counting at zero.
void instruction_counter_start(void);

/// Stops counting and makes callgrind write its count.
void instruction_counter_stop(void);
