#pragma once
// What a person types: a code, or a password and a code behind it.

#include <stdbool.h>
#include <stddef.h>

/// Whether the text could be a code: 6 to 8 digits or a recovery code, perhaps with spaces and dashes.
bool is_like_code(const char *text);

/// Where the code begins at the end of a text, behind a password: a recovery code with its three dashes, or
/// this many digits. -1 if there is none.
ptrdiff_t start_of_code(const char *text, unsigned digits);
