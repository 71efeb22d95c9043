# shellcheck shell=bash
# Passkeys: an account whose only passkey is lost and replaced.

say "Start the example application: people sign in to it with passkeys. Here a program plays their browsers and authenticators, with the same requests as the server's pages and the application's."
printf '$ (umask 077; watchword-server client add shop --scope verify,enrol,manage > shop.key)\n'
(umask 077; "$programs/watchword-server" client add shop --scope verify,enrol,manage > "$folder/shop.key")
printf '$ Scripts/example-application --server %s --key-file shop.key --port %s\n' "$pages" "$shop_port"
/usr/bin/python3 Scripts/example-application \
    --server "$pages" --key-file "$folder/shop.key" --port "$shop_port" 2> "$folder/shop.log" &
application=$!
until (: < "/dev/tcp/127.0.0.1/$shop_port") 2> /dev/null; do
    kill -0 "$application" || { cat "$folder/shop.log"; exit 1; }
    sleep 0.1
done

PYTHONPATH=Scripts PYTHONDONTWRITEBYTECODE=1 \
    /usr/bin/python3 -m watchword_tools.demonstration.recovery "http://localhost:$shop_port" "$pages"
kill "$application"
wait "$application" || true
application=''
