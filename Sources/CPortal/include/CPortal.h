#pragma once
#include <stddef.h>

/// Asks the desktop portal for a screenshot and waits for it, at most this many milliseconds.
///
/// Writes the URI of the new file, with a null byte, to `uri`. Returns 0, or a negative error number:
/// -ECANCELED if the user or the desktop refused, -ETIMEDOUT after the timeout.
int portal_screenshot(char *uri, size_t capacity, unsigned milliseconds);
