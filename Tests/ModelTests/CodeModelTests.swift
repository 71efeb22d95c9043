import TestSupport
import Testing

@testable import Verification

/// Explores every order of requests, clock changes and restores up to a depth.
@Suite("Exploration of the decision to accept a code once")
struct CodeModelTests {
    private func explore(_ setting: CodeModel.Setting, depth: Int, _ name: String) async throws {
        let exploration = try await CodeModel(setting).explore(depth: depth)
        print("\(name): \(exploration)")
        if let violation = exploration.violation { Issue.record("\(name): \(violation)") }
        #expect(exploration.depth == depth || exploration.isComplete)
    }

    private var policy: Policy {
        get throws { try Policy(firstFailureWithWait: 2, disablingFailures: 4) }
    }

    @Test("O-04 T-10 V-09 the invariants hold when requests of two nodes interleave on one store")
    func interleaved() async throws {
        try await explore(
            CodeModel.Setting(
                policy: policy, isInterleaved: true, turns: [30, -30], mostTurns: 1,
                resynchronizations: [1], hasRestore: false),
            depth: 7, "two nodes")
    }

    @Test("O-04 T-10 V-09 the invariants hold under drift, resynchronisation and clock jumps")
    func clocks() async throws {
        try await explore(
            CodeModel.Setting(
                policy: policy, isInterleaved: false,
                turns: [30, 660, 86_400, -3_600], mostTurns: 3,
                resynchronizations: [-20, 1, 20], hasRestore: false, isPending: true),
            depth: 5, "clocks")
    }

    @Test("O-04 T-10 R-02 the invariants hold when a restore loses accepted codes")
    func restored() async throws {
        try await explore(
            CodeModel.Setting(
                policy: policy, isInterleaved: false, turns: [30, 630], mostTurns: 3,
                resynchronizations: [20], hasRestore: true),
            depth: 6, "restore")
    }
}
