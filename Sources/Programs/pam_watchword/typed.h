#pragma once
// Text from a person: a code, or a password followed by a code.

#include <stdbool.h>
#include <stddef.h>

/// Whether the text could be a code: 6 to 8 digits or a recovery code, perhaps with spaces and dashes.
bool is_like_code(const char *text);

/// The position of the code at the end of a text, after a password: a recovery code with its three dashes, or
/// this many digits. -1 if there is no code.
ptrdiff_t start_of_code(const char *text, unsigned digits);
