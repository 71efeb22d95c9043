# shellcheck shell=bash
# Wrong passphrases: a wait, a wipe, and the recovery.

export WATCHWORD_VAULT=$folder/guarded
echo guess > "$folder/guess"
run init > "$folder/recovery" 2> /dev/null
echo GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ > "$folder/key"

say "Access control: each entry has a setting for when it requires a check, and one for what happens after failures. A shop would enrol us again, so its secret may be wiped."
show add Bank:demo --presence per-use --secret-file "$folder/key"
show add Shop:demo --on-failure wipe:3 --type secret --secret-file "$folder/key"
show list

say "A wrong passphrase: the attempt is recorded before its outcome is known."
refused 4 code Bank --passphrase-file "$folder/guess"
refused 4 code Bank --passphrase-file "$folder/guess"

say "A wipe: the third failure in a row erases the shop's secret. This needs no key."
refused 4 code Bank --passphrase-file "$folder/guess"

say "A lock-out: after five failures every further attempt must wait, even with the right passphrase."
refused 4 code Bank --passphrase-file "$folder/guess"
refused 4 code Bank --passphrase-file "$folder/guess"
refused 4 code Bank --passphrase-file "$folder/passphrase"

say "A recovery: the recovery key cannot be guessed, so it opens the vault at once, sets a new passphrase and ends the wait. The next unlock reports what was wiped."
head -c 18 /dev/urandom | base64 > "$folder/new"
printf '$ watchword passphrase --recovery-key-file … --new-passphrase-file …\n'
"$watchword" passphrase --recovery-key-file "$folder/recovery" --new-passphrase-file "$folder/new"
mv "$folder/new" "$folder/passphrase"
show code Bank
