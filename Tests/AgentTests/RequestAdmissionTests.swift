import Foundation
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography
import WatchwordSystem

@testable import Agent

/// Tests of which requests the two kinds of agent carry out.
struct RequestAdmissionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.file("5"), withIntermediateDirectories: false)
    }

    private func ceiling(of admission: RequestAdmission) -> Int? {
        guard case .admitted(let request) = admission else { return nil }
        return switch request {
        case .unlock(_, _, let ceiling, _), .open(_, _, let ceiling), .prove(_, _, let ceiling):
            ceiling
        default: nil
        }
    }

    @Test("the system agent limits the cost of a passphrase, and the user's own agent does not")
    func cost() throws {
        let opener = AgentFixture.opener
        let system = try AgentServices(
            for: .account(SystemAccount(stateFolder: folder.path, user: 5)))
        let own = try AgentServices(for: .folders([]))
        for ceiling in [Vault.defaultCeiling, Vault.defaultCeiling + 1, Vault.maximumCeiling] {
            for request in [
                AgentRequest.unlock(.ofSystem, opener, ceiling: ceiling, .standard),
                .open(.ofSystem, opener, ceiling: ceiling),
                .prove(.ofSystem, opener, ceiling: ceiling),
            ] {
                #expect(
                    self.ceiling(of: system.admission(of: request)) == Vault.defaultCeiling)
                #expect(self.ceiling(of: own.admission(of: request)) == ceiling)
            }
        }
    }

    @Test("guesses count towards a wipe, whatever cost ceiling the client sends")
    func cheap() throws {
        let passphrases = ["one", "two"].map { SecretBytes(text: $0) }
        let dearer = try #require(ScryptCost(logN: 12))
        let three = try #require(FailureCount(3))
        let access = AccessControl(presence: .perUnlock, onFailure: .wipe(after: three))
        let path = folder.file("5/vault")
        try Vault.create(
            at: path, passphrase: passphrases[0], cost: .lowest, recoveryKey: nil,
            now: 0)
        try Vault.unlock(at: path, with: .passphrase(passphrases[0])).update {
            changes throws(VaultError) in
            try changes.addPassphrase(passphrases[1], cost: dearer, now: 0)
            _ = try changes.add(
                .plainSecret(issuer: "A", account: "a", value: SecretBytes(text: "x")),
                accessControl: access, now: 0)
        }
        let place = try VaultPlace(at: path)
        let services = [
            try AgentServices(for: .account(SystemAccount(stateFolder: folder.path, user: 5))),
            try AgentServices(for: .folders([place.folder])),
        ]
        let guess = VaultOpener.passphrase(SecretBytes(text: "guess"))
        for attempt in 1...3 {
            let service = services[attempt % 2]
            let request = AgentRequest.unlock(place, guess, ceiling: 10, .standard)
            guard
                case .admitted(.unlock(let place, let opener, let ceiling, let time)) =
                    service.admission(of: request)
            else {
                Issue.record("not admitted")
                return
            }
            var unlocking: UInt64?
            #expect(throws: (any Error).self) {
                try service.unlock(place, with: opener, ceiling: ceiling, for: time, &unlocking)
            }
        }
        let vault = try Vault.unlock(at: path, with: .passphrase(passphrases[1]))
        #expect(vault.entries.first?.tombstone != nil)
    }
}
