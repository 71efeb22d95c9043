# Functions of the scripts that try programs where systemd runs, which source this file.

say() { printf '\n== %s\n' "$*"; }
# as USER COMMAND…: runs a command as a user
as() { runuser -u "$1" -- env HOME="/home/$1" XDG_RUNTIME_DIR= "${@:2}"; }
# expect STATUS COMMAND…: runs a command, which must end with this status
expect() {
    local status=0
    "${@:2}" || status=$?
    [ $status -eq "$1" ] || { echo "try: status $status instead of $1: ${*:2}" >&2; return 1; }
}
# active UNIT…, inactive UNIT…: whether each of the units runs, or none of them
active() {
    local unit
    for unit; do systemctl --quiet is-active "$unit" || { echo "try: $unit is not running" >&2; return 1; }; done
}
inactive() {
    local unit
    for unit; do ! systemctl --quiet is-active "$unit" || { echo "try: $unit runs" >&2; return 1; }; done
}
# on_terminal USER COMMAND: runs a command on a terminal
on_terminal() { as "$1" timeout 60 script -qec "$2" /dev/null < /dev/null; }
# Waits, for at most ten seconds, until a command succeeds.
until_true() {
    for _ in {1..100}; do
        "$@" && return
        sleep 0.1
    done
    echo "try: did not succeed within ten seconds: $*" >&2
    return 1
}
# locked USER: whether the system agent holds no vault of the user
locked() { as "$1" watchword agent status | grep -q 'system agent is running; no vault is unlocked'; }
# new_vault USER: creates a user with a vault of two entries, of which `Bank` needs a check by PAM
new_vault() {
    useradd --create-home "$1"
    as "$1" sh -c 'umask 077; cd && echo "correct horse battery" > pass.txt &&
        echo GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ > key.txt'
    vault "$1" init -q --no-recovery-key
    vault "$1" add -q Site:me --secret-file "/home/$1/key.txt"
    vault "$1" add -q Bank:me --presence per-use:pam --secret-file "/home/$1/key.txt"
}
# vault USER ARGUMENT…: runs watchword with the user's passphrase
vault() { as "$1" watchword "${@:2}" --passphrase-file "/home/$1/pass.txt"; }
