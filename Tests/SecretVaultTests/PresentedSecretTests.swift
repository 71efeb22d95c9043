import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

struct PresentedSecretTests {
    private func presented(_ number: UInt8, generation: UInt64 = 1) -> PresentedSecret {
        PresentedSecret(
            enrolment: [UInt8](repeating: number, count: 16), generation: generation,
            digest: [UInt8](repeating: ~number, count: 32))
    }

    private let name = ".watchword/enrolled"

    @Test("the record is kept in the folder, and shared by its vaults")
    func shared() throws {
        let vault = try TestVault()
        let open = try vault.unlock()
        let first = presented(1)
        #expect(try open.lastPresented(of: first.enrolment) == nil)
        try open.record(first)
        try open.record(presented(2))
        let newer = presented(1, generation: 2)
        try open.record(newer)
        try Vault.create(
            at: vault.folder.file("other"), passphrase: TestVault.passphrase,
            cost: .lowest, recoveryKey: nil, now: 0)
        let other = try Vault.unlock(
            at: vault.folder.file("other"), with: .passphrase(TestVault.passphrase))
        #expect(try other.lastPresented(of: first.enrolment) == newer)
        #expect(try open.lastPresented(of: presented(2).enrolment) == presented(2))
    }

    @Test("the record's bytes can be read back, and any other bytes are refused")
    func bytes() throws {
        var secrets = PresentedSecrets()
        for number in 1...3 as ClosedRange<UInt8> { secrets.add(presented(number)) }
        let text = secrets.text()
        #expect(try PresentedSecrets(reading: text) == secrets)
        for place in text.indices {
            var damaged = text
            damaged[place] ^= 1
            #expect(throws: VaultError.self) { try PresentedSecrets(reading: damaged) }
        }
        for count in text.indices {
            let cut = Array(text[..<count])
            #expect(throws: VaultError.self) { try PresentedSecrets(reading: cut) }
        }
        #expect(throws: VaultError.self) { try PresentedSecrets(reading: text + [0x0A]) }
    }

    @Test("the records of a moved vault never replace newer ones")
    func moved() {
        func secrets(_ presented: PresentedSecret...) -> PresentedSecrets {
            var secrets = PresentedSecrets()
            for presented in presented { secrets.add(presented) }
            return secrets
        }
        let other = PresentedSecret(
            enrolment: [UInt8](repeating: 1, count: 16), generation: 2,
            digest: [UInt8](repeating: 7, count: 32))
        let known = presented(1, generation: 2)
        // An older secret, and a different secret of the same generation.
        for arriving in [presented(1, generation: 1), other] {
            var here = secrets(known)
            here.add(secrets(arriving, presented(2)))
            #expect(here.all == [known, presented(2)])
        }
        var here = secrets(known, presented(2))
        here.add(secrets(presented(1, generation: 3)))
        #expect(here.all == [presented(2), presented(1, generation: 3)])
    }

    @Test("of more than 1,000 enrolments, the least recently used are dropped")
    func limit() throws {
        var secrets = PresentedSecrets()
        for number in 0..<1010 {
            let enrolment =
                [UInt8](repeating: 0, count: 14) + [UInt8(number >> 8), UInt8(number & 255)]
            secrets.add(
                PresentedSecret(
                    enrolment: enrolment, generation: 1,
                    digest: [UInt8](repeating: 1, count: 32)))
        }
        #expect(secrets.all.count == 1000)
        #expect(secrets.all.first?.enrolment.last == 10)
        let text = secrets.text()
        #expect(text.count <= PresentedSecrets.sizeLimit)
        #expect(try PresentedSecrets(reading: text) == secrets)
    }

    @Test("a damaged record is treated as missing; an unrelated file with its name is not changed")
    func damaged() throws {
        let vault = try TestVault()
        let open = try vault.unlock()
        try open.record(presented(1))
        let text = try vault.folder.bytes(of: name)
        try vault.put(text.dropLast(3) + Array("xy\n".utf8), as: name)
        #expect(try open.lastPresented(of: presented(1).enrolment) == nil)
        try open.record(presented(2))
        #expect(try open.lastPresented(of: presented(2).enrolment) == presented(2))
        try vault.put(Array("notes\n".utf8), as: name)
        #expect(throws: VaultError.inTheWay(name: name)) {
            try open.lastPresented(of: presented(2).enrolment)
        }
        #expect(throws: VaultError.inTheWay(name: name)) { try open.record(presented(3)) }
        #expect(try vault.folder.bytes(of: name) == Array("notes\n".utf8))
    }
}
