#pragma once
// SHA*_CTX and SHA*_Transform are deprecated in OpenSSL 3, but they are the only way to keep a hash state as a value.
#define OPENSSL_SUPPRESS_DEPRECATED 1
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/objects.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
// Swift does not import macros that are defined by other macros.
enum {
    WATCHWORD_EVP_PKEY_KEY_PARAMETERS = EVP_PKEY_KEY_PARAMETERS,
    WATCHWORD_EVP_PKEY_PUBLIC_KEY = EVP_PKEY_PUBLIC_KEY,
    WATCHWORD_EVP_PKEY_KEYPAIR = EVP_PKEY_KEYPAIR
};
