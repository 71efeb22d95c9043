import TestSupport
import Testing

@testable import Verification

/// Every order of steps, messages, kills and copies, to a depth, instead of examples of it.
@Suite("The rotation of enrolled secrets, explored")
struct LoginModelTests {
    private func explore(
        _ setting: LoginModel.Setting, depth: Int, _ name: String
    ) async throws {
        let exploration = try await LoginModel(setting).explore(depth: depth)
        print("\(name): \(exploration)")
        if let violation = exploration.violation { Issue.record("\(name): \(violation)") }
        #expect(exploration.depth == depth || exploration.isComplete)
    }

    @Test("R-06 R-07 one device: messages lost, late and doubled, kills, new keys")
    func alone() async throws {
        try await explore(
            LoginModel.Setting(duplicates: 1, hasKeyRotation: true), depth: 12, "one device")
    }

    @Test("R-06 R-07 N-18 a second holder of a copy is found at the next use by either")
    func copied() async throws {
        try await explore(
            LoginModel.Setting(hasThief: true, duplicates: 1), depth: 11, "a copy")
    }

    @Test("R-07 N-37 two nodes decide on the same credential at once")
    func interleaved() async throws {
        try await explore(
            LoginModel.Setting(isInterleaved: true, hasThief: true, duplicates: 1), depth: 11,
            "two nodes")
    }

    @Test("R-07 N-37 two nodes decide on the same secret at once, sent by two holders")
    func bothSent() async throws {
        try await explore(
            LoginModel.Setting(isInterleaved: true, haveBothSent: true), depth: 10,
            "two nodes, both holders have sent")
    }

    @Test("O-07 a clock that jumps by months, ends, and what devices are told then")
    func clocks() async throws {
        try await explore(
            LoginModel.Setting(hasEnd: true, days: [2, 91, -91], mostTurns: 2), depth: 10, "clocks")
    }

    @Test("R-06 an earlier database takes the place of the newer one")
    func putBack() async throws {
        try await explore(
            LoginModel.Setting(duplicates: 1, hasPutBack: true), depth: 12, "put back")
    }

    @Test(
        "R-06 a database that lost several logins denies, and ends nothing: it may be put right",
        arguments: [1, 2, 3])
    func putFarBack(logins: Int) async throws {
        try await explore(
            LoginModel.Setting(hasPutBack: true, loginsSinceBackup: logins), depth: 13,
            "put back by \(logins)")
    }

    @Test("R-02 a restore ends the credential, and the device learns it")
    func restored() async throws {
        try await explore(
            LoginModel.Setting(hasThief: true, hasRestore: true), depth: 11, "restore")
    }
}
