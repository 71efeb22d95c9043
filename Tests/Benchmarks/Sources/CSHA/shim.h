#pragma once
// What the bare compressions cost is the limit that codes are measured against.
#define OPENSSL_SUPPRESS_DEPRECATED 1
#include <openssl/sha.h>
