# shellcheck shell=bash
# A device key: in an emulated TPM if swtpm is installed, otherwise in the vault.

tpm=()
if command -v swtpm > /dev/null; then
    say "Start an emulated TPM."
    find_port
    mkdir "$folder/tpm"
    swtpm socket --tpm2 --tpmstate "dir=$folder/tpm" --flags not-need-init,startup-clear \
        --server "type=tcp,port=$port,bindaddr=127.0.0.1" \
        --ctrl "type=tcp,port=$((port + 1)),bindaddr=127.0.0.1" 2> "$folder/tpm.log" &
    emulator=$!
    until (: < "/dev/tcp/127.0.0.1/$((port + 1))") 2> /dev/null; do
        kill -0 "$emulator" || { cat "$folder/tpm.log"; exit 1; }
        sleep 0.1
    done
    tpm=(--tpm "swtpm:host=127.0.0.1,port=$port")
else
    say "swtpm is not installed, so the key is kept in the vault."
    tpm=(--tpm device:/nonexistent)
fi

say "Make a device key and register it: the server gets only the public key, and there is no secret to copy."
ask POST /v1/subjects/alice/credentials <<< '{"type":"key","name":"laptop"}'
told ticket > "$folder/ticket"
show key enrol Laptop:alice --server "http://$address" --ticket-file "$folder/ticket" "${tpm[@]}"
show key status Laptop

say "Sign in: the key signs a challenge together with the server's address. The application learns who signed in."
printf '$ watchword key present Laptop %s\nwwl_…\n' "${tpm[*]}"
printf '{"login":"%s"}' "$(run key present Laptop "${tpm[@]}")" | ask POST /v1/logins/redeem
expect '"type":"key"'

say "Confirm a payment: the key signs the text that the device shows."
text="Pay 120.00 EUR to Paper Mill"
key=$(run --json key status Laptop | sed 's/.*"credential":"\([^"]*\)".*/\1/')
ask POST /v1/challenges <<< "{\"credential\":\"$key\",\"purpose\":\"confirm\",\"text\":\"$text\"}"
printf '%s\n%s\n%s\n' "$(told challenge)" "$(sed 's/.*"expires_ms":\([0-9]*\).*/\1/' "$folder/answer")" \
    "$text" > "$folder/payment"
printf '$ watchword key confirm Laptop --challenge-file %s --yes %s\n' "$folder/payment" "${tpm[*]}"
printf '{"login":"%s"}' "$(run key confirm Laptop --challenge-file "$folder/payment" --yes "${tpm[@]}")" \
    | ask POST /v1/logins/redeem
expect '"purpose":"confirm"'
