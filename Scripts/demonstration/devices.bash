# shellcheck shell=bash
# Enrolled devices: secrets that change at each use, a lost response, and a thief.

say "Enrol a device: it exchanges a ticket for a secret, which goes straight into the vault and opens only on this device."
ask POST /v1/subjects/alice/credentials <<< '{"type":"secret","name":"phone"}'
told ticket > "$folder/ticket"
show login enrol Phone:alice --server "http://$address" --ticket-file "$folder/ticket"

say "Sign in three times. The secret changes each time, so a copy of an earlier one is useless."
sign_in
sign_in
sign_in
show login status Phone

say "Lose a reply: the server has accepted the secret, but its response does not arrive (here a helper process drops it)."
mkdir "$folder/lossy"
cp "$watchword" "$folder/lossy/"
printf '#!/bin/sh\n"%s/watchword-courier" > /dev/null\nexit 1\n' "$programs" \
    > "$folder/lossy/watchword-courier"
chmod +x "$folder/lossy/watchword-courier"
watchword=$folder/lossy/watchword \
    refused 6 login present Phone --passphrase-file "$folder/passphrase"

say "The next run repeats the request with the recorded nonce, gets the same response, and signs in."
sign_in

say "A thief with the vault's files and its passphrase cannot use the secret, which is bound to this device."
mkdir "$folder/thief"
cp "$folder"/guarded* "$folder/thief/"
XDG_STATE_HOME=$folder/thief WATCHWORD_VAULT=$folder/thief/guarded \
    refused 1 login present Phone --passphrase-file "$folder/passphrase"

say "A thief on this device, who also has the device's key, uses the secret before its owner does."
WATCHWORD_VAULT=$folder/thief/guarded sign_in

say "Then the owner presents the secret that the thief has used. The server detects the reuse, and revokes the credential."
refused 5 login present Phone --passphrase-file "$folder/passphrase"
say "The thief's secret is useless now, and the thief's program wipes it too."
WATCHWORD_VAULT=$folder/thief/guarded \
    refused 5 login present Phone --passphrase-file "$folder/passphrase"
show login status Phone
WATCHWORD_VAULT=$folder/thief/guarded show login status Phone
