import Cryptography
import Foundation
import POSIX
import SecretVault
import TestSupport
import Testing
import VaultAgent

@testable import AgentService

/// Which requests the two kinds of agent carry out.
struct RequestAdmissionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.file("5"), withIntermediateDirectories: false)
    }

    private func service(for reach: ClientReach) throws -> AgentServices {
        AgentServices(
            vaults: HeldVaults(clock: AgentClock.now), reach: reach, limitsFiles: false,
            helpers: HelperChannel(try SocketPair().takeFirst()), stop: try WakeSignal())
    }

    private func ceiling(of admission: RequestAdmission) -> Int? {
        guard case .admitted(let request) = admission else { return nil }
        return switch request {
        case .unlock(_, _, let ceiling, _), .open(_, _, let ceiling), .prove(_, _, let ceiling):
            ceiling
        default: nil
        }
    }

    @Test("the system agent limits what a passphrase may cost, and the user's own agent does not")
    func cost() throws {
        let opener = VaultOpener.passphrase(SecretBytes(text: AgentFixture.passphrase))
        let system = try service(
            for: .account(SystemAccount(stateFolder: folder.path, user: 5)))
        let own = try service(for: .folders([]))
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
}
