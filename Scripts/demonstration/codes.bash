# shellcheck shell=bash
# A vault: imports pictures, lists the entries, and compares each code with oathtool's.

export WATCHWORD_VAULT=$folder/vault XDG_STATE_HOME=$folder/state
head -c 18 /dev/urandom | base64 > "$folder/passphrase"

say "Create a vault, which is one encrypted file. Here the passphrase comes from a file, as in a script; otherwise watchword prompts for it."
show init --no-recovery-key

say "Import pictures of QR codes. A confined process reads them, and each code becomes an entry."
imported=0
show import Vectors/qr || imported=$?
[ $imported -le 1 ] || exit $imported

say "List the entries. This needs the passphrase, and shows no secrets."
show list

say "Print a code for each entry, and compare it with the code that oathtool computes from the same key."
agreed=0
differed=0
time=$(date +%s)
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" <<< "$entry"; }
part() { sed -n "s/.*[?&]$1=\([^&]*\).*/\1/p" <<< "$uri"; }
# Sets `code` and `other`, the code that oathtool computes. Only oathtool needs the file with the key.
compute() {
    local digits algorithm period
    digits=$(part digits) algorithm=$(part algorithm) period=$(part period)
    part secret > "$folder/key"
    case $uri in
        *://hotp/*)
            code=$(run code "$id")
            other=$(oathtool --hotp -b -d "${digits:-6}" -c "$(part counter)" "@$folder/key")
            ;;
        *://totp/*encoder=steam* | *://steam/*)
            code=$(run code "$id" --at "$time")
            other="(no Steam codes in oathtool)"
            ;;
        *)
            code=$(run code "$id" --at "$time")
            other=$(oathtool "--totp=${algorithm:-SHA1}" -b -d "${digits:-6}" -s "${period:-30}s" \
                -N "@$time" "@$folder/key")
            ;;
    esac
    rm "$folder/key"
}
while IFS= read -r entry; do
    id=$(member id) name=$(member issuer):$(member account)
    uri=$(run show "$id" --uri)
    compute
    verdict=same
    case $other in
        "$code") agreed=$((agreed + 1)) ;;
        "("*) verdict=unchecked ;;
        *) verdict=DIFFERS differed=$((differed + 1)) ;;
    esac
    printf '%-10s oathtool %-32s %-10s %s\n' "$code" "$other" $verdict "$name"
done < <(run --json list)

say "Show an entry as a QR code that a phone can scan: black on white, whatever the terminal's colours are."
printf '$ watchword show %s --qr\n' "$name"
run show "$name" --qr | cat
