# shellcheck shell=bash
# A server: enrols a user, and verifies codes.

say "Start the server. It creates its database and its key file. Here it uses free ports on this machine; --audience is for device keys, and the other options are for passkeys."
find_port
# The example application will listen on the next port.
pages=http://localhost:$port shop_port=$((port + 1))
options=(--audience "http://127.0.0.1:$port" --pages --rp-id localhost --origin "$pages"
    --return-to "http://localhost:$shop_port/back")
printf '$ watchword-server serve %s\n' "${options[*]}"
: > "$folder/log"  # The loop below may read it before the server's shell opens it.
"$programs/watchword-server" serve --listen "127.0.0.1:$port" --ops-listen 127.0.0.1:0 --no-clock-check \
    "${options[@]}" 2> "$folder/log" &
running=$!
address=
until [ -n "$address" ]; do
    kill -0 "$running" || { cat "$folder/log"; exit 1; }
    address=$(sed -n 's/.*"service":"\([^"]*\)".*/\1/p' "$folder/log")
    sleep 0.1
done
printf '$ watchword-server client add mill --scope verify,enrol,reasons,audit\nwwk_…\n'
printf 'Authorization: Bearer %s\n' \
    "$("$programs/watchword-server" client add mill --scope verify,enrol,reasons,audit)" > "$folder/header"

say "Enrol Alice with a QR code: import the server's picture into her vault, as a phone's camera would."
ask POST /v1/subjects/alice/credentials <<< '{"type":"totp","issuer":"Mill","account":"alice"}'
credential=$(told credential)
told qr_png | base64 -d > "$folder/alice.png"
show import "$folder/alice.png"

say "Her first code confirms the enrolment. It cannot be used again."
ask POST "/v1/credentials/$credential/confirm" <<< "{\"code\":\"$(run code Mill:alice)\"}"
expect '"result":"accepted"'

say "Verify a code. The same code is denied the second time, and the application learns why."
code=$(run code Mill:alice --next)
ask POST /v1/verifications <<< "{\"subject\":\"alice\",\"code\":\"$code\"}"
expect '"result":"accepted"'
ask POST /v1/verifications <<< "{\"subject\":\"alice\",\"code\":\"$code\"}"
expect '"reason":"replayed"'
