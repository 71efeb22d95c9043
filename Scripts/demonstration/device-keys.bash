# shellcheck shell=bash
# A device key: in an emulated TPM if swtpm is installed and starts, otherwise in the vault.

# Starts an emulated TPM, and sets emulator and port; fails, with its messages in tpm.log, if it does not start.
start_emulator() {
    mkdir "$folder/tpm"
    find_port
    swtpm socket --tpm2 --tpmstate "dir=$folder/tpm" --flags not-need-init,startup-clear \
        --server "type=tcp,port=$port,bindaddr=127.0.0.1" \
        --ctrl "type=tcp,port=$((port + 1)),bindaddr=127.0.0.1" > "$folder/tpm.log" 2>&1 &
    emulator=$!
    until (: < "/dev/tcp/127.0.0.1/$((port + 1))") 2> /dev/null; do
        kill -0 "$emulator" 2> /dev/null || { emulator=; return 1; }
        sleep 0.1
    done
}

say "Delete the names of the secrets that were wiped, so that the commands no longer mention them."
show remove Shop:demo --yes
show remove Phone:alice --yes

custody=(--custody vault)
tpm=()
if ! command -v swtpm > /dev/null; then
    say "swtpm is not installed, so there is no TPM here. The next key is kept in the vault."
elif start_emulator; then
    say "An emulated TPM is running. The next key is made in it and cannot leave it."
    tpm=(--tpm "swtpm:host=127.0.0.1,port=$port")
    custody=(--custody tpm "${tpm[@]}")
else
    say "swtpm is installed but does not start, so there is no TPM here. The next key is kept in the vault."
    cat "$folder/tpm.log"
fi

say "Make a device key and register it: the server gets only the public key, and there is no secret to copy."
ask POST /v1/subjects/alice/credentials <<< '{"type":"key","name":"laptop"}'
told ticket > "$folder/ticket"
show key enrol Laptop:alice --server "http://$address" --ticket-file "$folder/ticket" "${custody[@]}"
show key status Laptop

say "Sign in: the key signs a challenge together with the server's address. The application learns who signed in."
echo '$ watchword key present Laptop' "${tpm[@]}"
login=$(run key present Laptop "${tpm[@]}")
echo 'wwl_…'
ask POST /v1/logins/redeem <<< "{\"login\":\"$login\"}"
expect '"type":"key"'

say "Confirm a payment: the key signs the text that the device shows."
text="Pay 120.00 EUR to Paper Mill"
key=$(run --json key status Laptop | sed 's/.*"credential":"\([^"]*\)".*/\1/')
ask POST /v1/challenges <<< "{\"credential\":\"$key\",\"purpose\":\"confirm\",\"text\":\"$text\"}"
printf '%s\n%s\n%s\n' "$(told challenge)" "$(sed 's/.*"expires_ms":\([0-9]*\).*/\1/' "$folder/answer")" \
    "$text" > "$folder/payment"
echo '$ watchword key confirm Laptop --challenge-file' "$folder/payment" --yes "${tpm[@]}"
login=$(run key confirm Laptop --challenge-file "$folder/payment" --yes "${tpm[@]}")
echo 'wwl_…'
ask POST /v1/logins/redeem <<< "{\"login\":\"$login\"}"
expect '"purpose":"confirm"'
