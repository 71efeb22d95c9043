# shellcheck shell=bash
# The agent: unlock once, get codes without the passphrase, and lock again.

# The agent's socket is in a folder that only this user can open.
export XDG_RUNTIME_DIR=$folder/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
held() {
    printf '$ watchword %s\n' "$*"
    "$watchword" "$@"
}

say "Unlock once: a background agent now holds the vault's key and gives out codes. It gives out a secret only after another check."
show unlock --idle 5m --at-most 1h

say "A passphrase is no longer needed. The agent computes the code in a process that other programs can neither read nor trace."
entry=$(run --json list | grep '"type":"totp"' | tail -n 1)
id=$(member id)
held code "$id" --at "$time"
[ "$("$watchword" code "$id" --at "$time")" = "$(run code "$id" --at "$time")" ] ||
    { echo "the agent's code differs"; exit 1; }
held agent status

say "Lock it again: the agent erases the key at once."
held lock
held agent status
held agent stop
