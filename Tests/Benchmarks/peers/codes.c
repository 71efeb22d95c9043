// The same work in other libraries: prints lines "NAME NANOSECONDS".
//
// liboath-*, libcotp-*: one code through the public API. With the argument `scrypt`: the scrypt of one unlock.
#include <cotp.h>
#include <oath.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char key[] = "12345678901234567890";
static const char base32[] = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
static char code[16];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

// The fastest of five short runs, which is the least disturbed one.
#define MEASURE(name, count, work)                                        \
    do {                                                                  \
        double best = 1e18;                                               \
        for (int round = 0; round < 5; round++) {                         \
            double start = now();                                         \
            for (long i = 0; i < (count); i++) { work; }                  \
            double each = (now() - start) / (count);                      \
            if (each < best) best = each;                                 \
        }                                                                 \
        printf("%s %.1f\n", name, best);                                  \
    } while (0)

static void liboath(void) {
    static const struct { const char *name; int flags; } all[] = {
        {"liboath-sha1", 0},
        {"liboath-sha256", OATH_TOTP_HMAC_SHA256},
        {"liboath-sha512", OATH_TOTP_HMAC_SHA512},
    };
    for (int n = 0; n < 3; n++)
        MEASURE(all[n].name, 20000, oath_totp_generate2(key, 20, i * 30, 30, 0, 6,
                                                        all[n].flags, code));
    // A code that matches nowhere, so that the whole window is searched.
    MEASURE("liboath-window", 10000,
            oath_totp_validate2(key, 20, 59, 30, 0, 1, NULL, "000000"));
    MEASURE("liboath-resync", 20, oath_hotp_validate(key, 20, 0, 1000, "000000"));
}

static void libcotp(void) {
    static const struct { const char *name; int algorithm; } all[] = {
        {"libcotp-sha1", SHA1}, {"libcotp-sha256", SHA256}, {"libcotp-sha512", SHA512}};
    for (int n = 0; n < 3; n++) {
        cotp_error_t error;
        MEASURE(all[n].name, 10000,
                free(get_totp_at(base32, i * 30, 6, 30, all[n].algorithm, &error)));
    }
}

static void scrypt(void) {
    static const unsigned char salt[16];
    unsigned char derived[32];
    double start = now();
    if (EVP_PBE_scrypt("demo", 4, salt, 16, 1 << 17, 8, 1, 200 << 20, derived, 32) != 1) exit(1);
    printf("scrypt-17 %.0f\n", now() - start);
}

int main(int count, char **arguments) {
    if (oath_init() != OATH_OK) return 1;
    if (count > 1 && strcmp(arguments[1], "scrypt") == 0) {
        scrypt();
        return 0;
    }
    liboath();
    libcotp();
    return 0;
}
