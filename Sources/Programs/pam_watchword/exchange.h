#pragma once
// One request and its response, before a deadline.

#include "options.h"
#include "protocol.h"

enum { longest_complaint = 256 };

/// The description of a fault for the system log: printable, and without input from a person.
struct complaint {
    char text[longest_complaint];
};

/// Asks the server of this machine, or the server in the options; false, with a complaint, if there is
/// no valid response.
bool exchange(
    const struct options *options, const struct request *request, struct response *response,
    struct complaint *complaint);
