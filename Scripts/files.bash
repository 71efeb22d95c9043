# Reads the table Scripts/files. Scripts/install and Scripts/package source this file; they set `prefix`, and `built`,
# the folder of the release programs.

# for_files COMMAND PACKAGE [PATTERN]: calls the command with the mode, the destination and the source of each file of
# a package whose path in the table matches the pattern.
for_files() {
    local package mode path words
    while read -r package mode path words <&3; do
        # shellcheck disable=SC2053 # the last one is a pattern
        [[ $package == "$2" && $path == ${3-*} ]] || continue
        # shellcheck disable=SC2086 # the words of the source
        "$1" "$mode" "$(destination "$path")" $words
    done 3< Scripts/files
}

# Prints the location of a path in the table. Packages and administrators use different folders.
destination() {
    case $prefix:$1 in
        *:/*) echo "${DESTDIR-}$1" ;;
        /usr:*@MULTIARCH@*) echo "${DESTDIR-}/usr/${1/@MULTIARCH@/$(dpkg-architecture -q DEB_HOST_MULTIARCH)}" ;;
        /usr:*) echo "${DESTDIR-}/usr/$1" ;;
        *:lib/*) echo "${DESTDIR-}/etc/${1#lib/}" ;;
        *:share/polkit-1/*) echo "${DESTDIR-}/etc/${1#share/}" ;;
        *:share/zsh/*) echo "${DESTDIR-}$prefix/${1/vendor-completions/site-functions}" ;;
        *) echo "${DESTDIR-}$prefix/$1" ;;
    esac
}

# Installs a file: its mode, its destination, its source.
put() {
    case $3 in
        program) install -D -m "$1" "$built/${2##*/}" "$2" ;;
        prints) "$built/$4" "${@:5}" | install -D -m "$1" /dev/stdin "$2" ;;
        document) install -D -m "$1" "$4" "$2" ;;
        *) sed "s|@PREFIX@|$prefix|g" "$3" | install -D -m "$1" /dev/stdin "$2" ;;
    esac
}
