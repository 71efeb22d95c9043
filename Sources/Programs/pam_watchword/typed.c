#include "typed.h"

#include <string.h>

static bool is_digit(char character) { return character >= '0' && character <= '9'; }

/// RFC 4648, in upper or lower case.
static bool is_base32(char character) {
    char lower = (char)(character | 0x20);
    return (character >= '2' && character <= '7') || (lower >= 'a' && lower <= 'z');
}

bool is_like_code(const char *text) {
    size_t count = 0, digits = 0, base32 = 0;
    for (; *text; text++) {
        if (*text == ' ' || *text == '-') continue;
        count++;
        if (is_digit(*text)) digits++;
        if (is_base32(*text)) base32++;
    }
    return (count == 16 && base32 == count) || (count >= 6 && count <= 8 && digits == count);
}

ptrdiff_t start_of_code(const char *text, unsigned digits) {
    static const char form[] = "XXXX-XXXX-XXXX-XXXX";
    ptrdiff_t length = (ptrdiff_t)strlen(text), start = length - (ptrdiff_t)strlen(form);
    if (start >= 0) {
        size_t index = 0;
        const char *code = text + start;
        while (form[index] && (form[index] == '-' ? code[index] == '-' : is_base32(code[index]))) index++;
        if (!form[index]) return start;
    }
    start = length - (ptrdiff_t)digits;
    if (start < 0) return -1;
    for (const char *code = text + start; *code; code++)
        if (!is_digit(*code)) return -1;
    return start;
}
