# shellcheck shell=bash
# The functions of the demonstration, which print the command lines and check the results.

bold='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then bold=$'\033[1m' plain=$'\033[0m'; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
# Runs a command with the vault and its passphrase; `show` also prints the command as a person would type it.
run() { "$watchword" --passphrase-file "$folder/passphrase" "$@"; }
show() {
    printf '$ watchword %s\n' "$*"
    run "$@"
}

# Runs a command that must fail with the exit status in the first argument, and shows its messages.
refused() {
    local expected=$1 status=0
    shift
    printf '$ watchword %s\n' "$*"
    "$watchword" "$@" 2>&1 || status=$?
    [ $status -eq "$expected" ] || { echo "exit status $status instead of $expected"; exit 1; }
}

# Sets port to a free port of this machine whose successor is free, too.
find_port() {
    port=$((20000 + RANDOM % 10000))
    while (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null \
        || (: < "/dev/tcp/127.0.0.1/$((port + 1))") 2> /dev/null; do
        port=$((20000 + RANDOM % 10000))
    done
}

# Sends a request as the application. Keeps the response, and prints it without pictures and secrets.
ask() {
    printf '%s %s\n' "$1" "$2"
    curl -sS -X "$1" -H "@$folder/header" --json "@-" "http://$address$2" > "$folder/answer"
    sed -E 's/"(qr_png|uri|ticket|login)":"[^"]*"/"\1":"…"/g' "$folder/answer"
    printf '\n'
}
told() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$folder/answer"; }
# Checks that the last response contains this.
expect() {
    [[ $(< "$folder/answer") == *"$1"* ]] || { echo "the response does not contain: $1"; exit 1; }
}

# Signs in with the vault; the application learns who signed in.
sign_in() {
    printf '$ watchword login present Phone\nwwl_…\n'
    printf '{"login":"%s"}' "$(run login present Phone)" | ask POST /v1/logins/redeem
    expect '"subject":"alice"'
}
