#pragma once
// The benchmark compares codes with OpenSSL's compression functions, which are deprecated.
#define OPENSSL_SUPPRESS_DEPRECATED 1
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
