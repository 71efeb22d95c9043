#pragma once
// The benchmark compares codes with bare compressions.
#define OPENSSL_SUPPRESS_DEPRECATED 1
#include <openssl/sha.h>
