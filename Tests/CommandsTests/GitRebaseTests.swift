import Foundation
import TestSupport
import Testing

/// Alarms about a vault that git or its owner replaces in order to merge.
struct GitRebaseTests {
    private static let alarm = "counters may repeat"

    @Test("a rebase of three commits raises no alarm; an older file that is put there later does")
    func rebase() throws {
        let fixture = try VaultFixture([])
        let pulled = try fixture.run(
            """
            set -e
            export WATCHWORD_PASSPHRASE_FILE=$HOME/pass.txt
            git config --global user.name a; git config --global user.email a@example.com
            git config --global init.defaultBranch main
            git config --global merge.watchword.driver 'watchword --vault %P merge --into %A %B'
            git config --global merge.watchword.recursive binary
            # On a busy machine, git can take a changed inode for a changed file, and stop.
            git config --global core.trustctime false
            git init -q --bare origin; git clone -q origin here 2>/dev/null; cd here
            watchword init -q --vault vault --scrypt-log-n 10 --no-recovery-key
            echo '/vault -text merge=watchword' >.gitattributes; echo /.watchword/ >.gitignore
            git add .; git commit -qm 0; git push -q origin HEAD
            cd ..; git clone -q origin there
            for name in here:A here:B here:C there:D there:E there:F; do
                printf "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJ${name#*:}\n" >key
                cd ${name%:*}
                watchword add -q --vault vault $name --secret-file ~/key
                git commit -qam $name
                cd ..
            done
            (cd there; git push -q origin HEAD)
            cd here; cp vault ../older
            git pull -q --rebase origin main 2>&1
            """)
        #expect(!pulled.text.contains(Self.alarm) && !pulled.text.contains("lacks"))
        #expect(pulled.text.contains("git replaces it during a rebase"))
        let list = "cd here; watchword list --vault vault --passphrase-file ../pass.txt 2>&1"
        let names = ["here:A", "here:B", "here:C", "there:D", "there:E", "there:F"]
        let listed = try fixture.run(list).text.split(separator: "\n")
        #expect(Set(listed.map { String($0.prefix { $0 != " " }) }) == Set(names))
        #expect(listed.count == 6)
        let replaced = try fixture.run("cat older >here/vault; \(list)").text
        #expect(replaced.contains("the vault is older") && replaced.contains(Self.alarm))
        // The merge driver prints a note about the older file, and the next unlock reports it
        // again.
        let merged = try fixture.run(
            """
            cd here; cp -p vault ours; git show HEAD:vault >theirs; chmod 600 theirs
            watchword merge --vault vault --into ours theirs --passphrase-file ../pass.txt 2>&1
            """)
        #expect(!merged.text.contains(Self.alarm))
        #expect(try fixture.run(list).text.contains(Self.alarm))
    }

    @Test("exchanging the vault for one with a newer key, as advised, raises no alarm")
    func exchanged() throws {
        let fixture = try VaultFixture()
        let exchanged = try fixture.run(
            """
            set -e
            cd .local/share/watchword; mkdir -m 700 ~/there; cp vault ~/there/vault; chmod 600 ~/there/vault
            printf 'another-horse\n' >~/new.txt
            watchword passphrase --vault ~/there/vault --scrypt-log-n 10 \
                --passphrase-file ~/pass.txt --new-passphrase-file ~/new.txt 2>/dev/null
            watchword edit -q Site:me --digits 8 --passphrase-file ~/pass.txt
            watchword edit -q Site:me --digits 6 --passphrase-file ~/pass.txt
            cp -p ~/there/vault copy
            mv -n vault vault.former && mv -n copy vault
            watchword list --passphrase-file ~/new.txt 2>&1
            echo ---
            watchword merge vault.former --passphrase-file ~/new.txt --copy-passphrase-file ~/pass.txt 2>&1
            watchword list --passphrase-file ~/new.txt 2>&1
            """)
        let parts = exchanged.text.components(separatedBy: "---\n")
        #expect(parts.first?.contains(Self.alarm) == true)
        #expect(!parts.dropFirst().joined().contains(Self.alarm))
        // A merge that does not restore the last saved changes reports that they are missing.
        let lost = try fixture.run(
            """
            cd .local/share/watchword; cp -p ~/there/vault vault
            watchword merge vault.former --passphrase-file ~/new.txt --copy-passphrase-file ~/pass.txt 2>&1
            """)
        #expect(lost.text.contains(Self.alarm))
    }
}
