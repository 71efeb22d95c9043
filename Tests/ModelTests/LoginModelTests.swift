import TestSupport
import Testing

@testable import Verification

/// Explores every order of steps, messages, kills and copies up to a depth.
@Suite("Exploration of the rotation of enrolled secrets")
struct LoginModelTests {
    private func explore(
        _ setting: LoginModel.Setting, depth: Int, _ name: String
    ) async throws {
        let exploration = try await LoginModel(setting).explore(depth: depth)
        print("\(name): \(exploration)")
        if let violation = exploration.violation { Issue.record("\(name): \(violation)") }
        #expect(exploration.depth == depth || exploration.isComplete)
    }

    @Test("R-06 R-07 one device survives lost, late and duplicate messages, kills and new keys")
    func alone() async throws {
        try await explore(
            LoginModel.Setting(duplicates: 1, hasKeyRotation: true), depth: 12, "one device")
    }

    @Test("R-06 R-07 N-18 a copied secret is detected once both holders have used it")
    func copied() async throws {
        try await explore(
            LoginModel.Setting(hasThief: true, duplicates: 1), depth: 11, "a copy")
    }

    @Test("R-07 N-37 the invariants hold when two nodes handle logins with one credential")
    func interleaved() async throws {
        try await explore(
            LoginModel.Setting(isInterleaved: true, hasThief: true, duplicates: 1), depth: 11,
            "two nodes")
    }

    @Test("R-07 N-37 the invariants hold when two holders send the same secret to two nodes")
    func bothSent() async throws {
        try await explore(
            LoginModel.Setting(isInterleaved: true, haveBothSent: true), depth: 10,
            "two nodes, both holders have sent")
    }

    @Test("O-07 devices learn of a revocation or closure, even if the clock jumps by months")
    func clocks() async throws {
        try await explore(
            LoginModel.Setting(hasEnd: true, days: [2, 91, -91], mostTurns: 2), depth: 10, "clocks")
    }

    @Test("R-06 a device survives the loss of the newest state of the database")
    func rolledBack() async throws {
        try await explore(
            LoginModel.Setting(duplicates: 1, hasPutBack: true), depth: 12, "put back")
    }

    @Test(
        "R-06 if the database loses several logins, logins are denied; no credential is revoked",
        arguments: [1, 2, 3])
    func putFarBack(logins: Int) async throws {
        try await explore(
            LoginModel.Setting(hasPutBack: true, loginsSinceBackup: logins), depth: 13,
            "put back by \(logins)")
    }

    @Test("R-02 a restore ends the credential, and the device learns of it")
    func restored() async throws {
        try await explore(
            LoginModel.Setting(hasThief: true, hasRestore: true), depth: 11, "restore")
    }
}
