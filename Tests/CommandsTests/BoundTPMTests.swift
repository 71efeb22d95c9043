import Foundation
import TestSupport
import Testing

/// Entries whose device key a TPM has sealed.
@Suite(.enabled(if: EmulatedTPM.isInstalled, "swtpm is not installed"))
struct BoundTPMTests {
    private let tpm: EmulatedTPM
    /// The address of the TPM, at which a different TPM can take its place.
    private let place: HostileTPM
    private let fixture: VaultFixture
    private let code = "watchword code Site --at 59 --passphrase-file pass.txt"

    /// A vault with an entry that is bound to the TPM.
    init() throws {
        tpm = try EmulatedTPM()
        place = try HostileTPM(tpm)
        fixture = try VaultFixture(recoveryKey: true)
        let bound = try fixture.run(
            """
            watchword --json edit Site --this-device --tpm \(place.address) \
                --passphrase-file pass.txt
            """)
        #expect(bound.text == #"{"binding":"tpm","entry":"Site:me","result":"changed"}"# + "\n")
        try expectOpen()
    }

    private func expectOpen(_ environment: String = "") throws {
        #expect(try fixture.run(environment + code).text == "287082\n")
    }

    /// Expects that the entry does not open for this reason, and that the vault does not change.
    private func expectClosed(_ reason: String, _ environment: String = "") throws {
        let vault = try fixture.vault()
        let outcome = try fixture.run(environment + code, status: 6)
        let errors = String(decoding: outcome.errors, as: UTF8.self)
        #expect(outcome.text == "" && errors.contains("“Site:me”: "), "\(errors)")
        #expect(errors.contains(reason), "\(errors)")
        #expect(try fixture.vault() == vault)
    }

    private static let otherTPM = "the TPM was cleared or replaced since the entry was bound"

    @Test("a copied vault does not open a bound entry, not even beside its TPM")
    func copiedVault() throws {
        try fixture.run("mkdir there; cp .local/share/watchword/vault there/vault")
        let there = "export HOME=$PWD/there; watchword code Site --at 59 --vault there/vault"
        for opener in ["--passphrase-file pass.txt", "--recovery-key-file recovery.txt"] {
            let outcome = try fixture.run("\(there) \(opener)", status: 1)
            let errors = String(decoding: outcome.errors, as: UTF8.self)
            #expect(outcome.text == "" && errors.contains("“Site:me” opens only on “"), "\(errors)")
        }
    }

    @Test(
        "another user who has copied the vault cannot use its device key, but could use the TPM",
        .enabled(if: geteuid() == 0, "only root can become another user"))
    func secondUser() throws {
        try fixture.expectKeyClosedToOthers()
        try expectOpen()
    }

    @Test("a copied home folder opens a bound entry only with the TPM that has sealed its key")
    func copiedHome() throws {
        try fixture.run("mkdir there; cp -a .local there")
        let other = try EmulatedTPM()
        place.exchange(for: other)
        try expectClosed(Self.otherTPM, "export HOME=$PWD/there; ")
        place.exchange(for: tpm)
        try expectOpen("export HOME=$PWD/there; ")
        withExtendedLifetime(other) {}
    }

    @Test("a different TPM does not open a bound entry, and no attempt is counted")
    func otherTPM() throws {
        let other = try EmulatedTPM()
        place.exchange(for: other)
        for _ in 0..<5 { try expectClosed(Self.otherTPM) }
        place.exchange(for: tpm)
        try expectOpen()
        guard TPMTools.areInstalled else { return }
        for tpm in [tpm, other] {
            let listed = try TPMTools(for: tpm).start("tpm2_getcap", ["properties-variable"])
            #expect(listed.text.contains("TPM2_PT_LOCKOUT_COUNTER: 0x0\n"), "\(listed.text)")
        }
    }

    @Test("a TPM that was cleared does not open a bound entry")
    func cleared() throws {
        try tpm.clear()
        try expectClosed(Self.otherTPM)
        // A new binding gets a new key, which does not open the old entry.
        try fixture.run(
            """
            watchword add -q New:me --secret-file key.txt --this-device=tpm --tpm \(place.address) \
                --passphrase-file pass.txt
            """)
        try expectClosed(Self.otherTPM)
        #expect(
            try fixture.run("watchword code New --at 59 --passphrase-file pass.txt").text
                == "287082\n")
    }

    @Test("a TPM with the same seeds opens a bound entry")
    func sameSeed() throws {
        let twin = try EmulatedTPM(copying: tpm)
        place.exchange(for: twin)
        try expectOpen()
        withExtendedLifetime(twin) {}
    }

    @Test("an entry does not open while its TPM is unavailable or busy")
    func dead() throws {
        // The command ends at once.
        place.exchange(for: try EmulatedTPM())
        try expectClosed("the TPM could not be used: ")
        let check = try fixture.run("watchword check --passphrase-file pass.txt", status: 1)
        #expect(check.text.contains("0 entries opened, 1 whose device key cannot be used, 0 dam"))
        #expect(
            String(decoding: check.errors, as: UTF8.self).contains(
                "“Site:me”: the TPM could not be used: "))
        place.exchange(for: tpm)
        try expectOpen()
        let gone = try HostileTPM(tpm, .ended, at: .createPrimary)
        try fixture.run(
            """
            watchword edit -q Site --no-this-device --passphrase-file pass.txt
            rm -r .local/state
            """)
        let bind = "watchword edit Site --this-device=tpm --passphrase-file pass.txt --tpm"
        let failed = try fixture.run("\(bind) \(gone.address)", status: 6)
        #expect(
            String(decoding: failed.errors, as: UTF8.self).contains("the TPM could not be used: "))
        try expectOpen()
        try fixture.run("\(bind) \(place.address)")
        try expectOpen()
    }

    @Test("an entry is bound to the TPM that --tpm specifies, even if a different TPM has a key")
    func namedTPM() throws {
        let other = try EmulatedTPM()
        let bind = "watchword edit Site --this-device=tpm --passphrase-file pass.txt --tpm"
        try fixture.run("\(bind) device:/nonexistent", status: 6)
        try fixture.run("\(bind) \(other.address)")
        // The first TPM is no longer available.
        place.exchange(for: try EmulatedTPM())
        try expectOpen()
        withExtendedLifetime(other) {}
    }

    @Test("an explicit binding never falls back to a different one; the default prints its choice")
    func choice() throws {
        let fixture = try VaultFixture()
        let options = "--passphrase-file pass.txt --tpm device:/nonexistent"
        let named = try fixture.run("watchword edit Site --this-device=tpm \(options)", status: 6)
        #expect(
            String(decoding: named.errors, as: UTF8.self).contains(
                "“Site:me”: the TPM could not be used: no TPM 2 was found"))
        let agent = try fixture.run("watchword edit Site --this-device=agent \(options)", status: 2)
        #expect(
            String(decoding: agent.errors, as: UTF8.self).contains(
                "only the system agent supports the binding “agent”; use tpm or file"))
        #expect(try fixture.run("watchword --json list \(options)").text.contains("\"here\":null"))
        let chosen = try fixture.run("watchword edit Site --this-device \(options)")
        #expect(
            String(decoding: chosen.errors, as: UTF8.self).contains(
                "It now opens only on this device, with a key in a file (file)."))
    }

    @Test("one unsealing opens all bound entries of a command")
    func unsealedOnce() throws {
        for number in 0..<3 {
            try fixture.run(
                """
                watchword add -q Site\(number):x --secret-file key.txt --this-device=tpm \
                    --tpm \(place.address) --passphrase-file pass.txt
                """)
        }
        let unseal: UInt32 = 0x15e
        let before = place.exchanges.count { $0.code == unseal }
        let check = try fixture.run("watchword check --passphrase-file pass.txt")
        #expect(check.text.contains("4 entries opened, 0 damaged"))
        #expect(place.exchanges.count { $0.code == unseal } == before + 1)
        // A list needs no TPM.
        let count = place.commandCount
        try fixture.run("watchword list --passphrase-file pass.txt")
        #expect(place.commandCount == count)
    }
}
