#pragma once
// One request and its response, before a deadline.

#include "options.h"
#include "protocol.h"

enum { longest_complaint = 256 };

/// What went wrong, for the system log: printable, and without anything that a person typed.
struct complaint {
    char text[longest_complaint];
};

/// Asks the server of this machine, or the one that the options name; false, with a complaint, if there is
/// no valid response.
bool exchange(
    const struct options *options, const struct request *request, struct response *response,
    struct complaint *complaint);
