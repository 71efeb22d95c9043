import TestSupport
import Testing

/// Concurrent edits of one entry.
struct EditRaceTests {
    private static let newKey = "MFRGGZDFMZTWQ2LKMFRGGZDFMZTWQ2LK"

    /// Runs `edit`, which checks the entry and then reads its new key from a pipe; `meanwhile` runs
    /// before the key is written.
    private func race(
        _ fixture: VaultFixture, _ edit: String, meanwhile: String
    ) throws -> ForeignProgram.Outcome {
        // Opening the pipe blocks until `watchword`, which has unlocked the vault by then, opens it
        // for reading. `watchword` does not wait for a writer, so this call must begin first.
        try Transcript.run(
            """
            mkfifo pipe
            { exec 3>pipe; \(meanwhile); echo \(Self.newKey) >&3; } &
            until grep -q 'State:.S' /proc/$!/status; do :; done
            watchword edit Site:me \(edit) --secret-file pipe --passphrase-file pass.txt
            """, in: fixture.folder)
    }

    /// The properties and the URI of the only entry.
    private func facts(_ fixture: VaultFixture) throws -> String {
        try fixture.run("watchword list --json --passphrase-file pass.txt").text
            + fixture.run("watchword export --passphrase-file pass.txt").text
    }

    @Test("changes that another program makes during an edit are kept")
    func interleaved() throws {
        let fixture = try VaultFixture()
        let quick = "watchword edit -q Site:me --digits 8 --issuer Other --on-failure wipe:9"
        let outcome = try race(
            fixture, "--algorithm SHA256", meanwhile: "\(quick) --passphrase-file pass.txt")
        #expect(outcome.status == 0, "\(String(decoding: outcome.errors, as: UTF8.self))")
        let told = try facts(fixture)
        for word in [
            "\"issuer\":\"Other\"", "\"digits\":8", "\"algorithm\":\"SHA256\"", Self.newKey,
            "\"on_failure\":\"wipe:9\"",
        ] { #expect(told.contains(word), "\(word)") }
    }

    @Test("an entry wiped during an edit stays wiped")
    func wiped() throws {
        let fixture = try VaultFixture(["Site:me --secret-file key.txt --on-failure wipe:1"])
        let outcome = try race(
            fixture, "", meanwhile: "watchword list --passphrase-file key.txt >list.txt 2>&1")
        #expect(outcome.status != 0)
        #expect(String(decoding: outcome.errors, as: UTF8.self).contains("wiped"))
        #expect(try fixture.run("watchword list --passphrase-file pass.txt").text.contains("wiped"))
        #expect(try !fixture.vault().contains("\nsealed "))
    }

    @Test("an entry that becomes per-use during an edit is not changed without a check")
    func asksMeanwhile() throws {
        let fixture = try VaultFixture()
        let quick = "watchword edit -q Site:me --presence per-use --passphrase-file pass.txt"
        let outcome = try race(fixture, "--presence per-unlock", meanwhile: quick)
        #expect(outcome.status == 4)
        let told = try facts(fixture)
        #expect(told.contains("\"presence\":\"per-use\"") && told.contains(VaultFixture.key))
    }

    @Test("concurrent edits do not undo each other")
    func atOnce() throws {
        let fixture = try VaultFixture()
        try fixture.folder.write(Array((Self.newKey + "\n").utf8), to: "new.txt")
        for round in 1...5 {
            let digits = round % 2 == 0 ? 6 : 8
            let keys = round % 2 == 0 ? ("key.txt", VaultFixture.key) : ("new.txt", Self.newKey)
            try fixture.run(
                """
                printf '%s\\n' '--digits \(digits)' '--secret-file \(keys.0)' '--period \(30 + round)' \
                    | xargs -P 3 -L 1 watchword edit -q Site:me --passphrase-file pass.txt
                """)
            let told = try facts(fixture)
            for word in ["\"digits\":\(digits)", keys.1, "\"period\":\(30 + round)"] {
                #expect(told.contains(word), "round \(round): \(word)")
            }
        }
    }
}
