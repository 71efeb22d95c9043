// The work of libpam-oath at each login, without PAM: looks up a user in a text file, checks the code, and
// rewrites the file. Prints lines "usersfile-COUNT NANOSECONDS".
//
//     usersfile FOLDER COUNT…
#include <oath.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char key[] = "12345678901234567890";
static const char hexadecimal[] = "3132333435363738393031323334353637383930";

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static void measure(const char *path, long count) {
    FILE *file = fopen(path, "w");
    if (file == NULL) exit(1);
    for (long user = 0; user < count; user++)
        fprintf(file, "HOTP subject-%ld - %s\n", user, hexadecimal);
    if (fclose(file) != 0) exit(1);
    double best = 1e18;
    for (long counter = 0; counter < 25; counter++) {
        char user[32], code[8];
        // A user in the middle of the file: on average, a linear search reads half of the file.
        snprintf(user, sizeof user, "subject-%ld", count / 2);
        if (oath_hotp_generate(key, 20, counter, 6, 0, OATH_HOTP_DYNAMIC_TRUNCATION, code) != OATH_OK)
            exit(1);
        time_t last;
        double start = now();
        if (oath_authenticate_usersfile(path, user, code, 5, NULL, &last) != OATH_OK) exit(1);
        double each = now() - start;
        if (each < best) best = each;
    }
    printf("usersfile-%ld %.0f\n", count, best);
}

int main(int count, char **arguments) {
    if (count < 3 || oath_init() != OATH_OK) return 1;
    char path[4096];
    snprintf(path, sizeof path, "%s/users.oath", arguments[1]);
    for (int n = 2; n < count; n++) measure(path, atol(arguments[n]));
    return 0;
}
