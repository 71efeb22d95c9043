import TestSupport
import Testing

@testable import SecretVault

/// Explores all orders in which attempts can be made, interrupted and decided.
struct AttemptMachineTests {
    @Test(
        "O-11 no entry is wiped without enough refusals, whatever the order of steps and kills",
        arguments: ["lock-out", "wipe:1", "wipe:2"])
    func programs(onFailure: String) async throws {
        let access: AccessControl.OnFailure =
            switch onFailure {
            case "wipe:1": .wipe(after: try #require(FailureCount(1)))
            case "wipe:2": .wipe(after: try #require(FailureCount(2)))
            default: .lockOut
            }
        let machine = AttemptMachine(onFailure: access, starts: 3)
        let exploration = try await machine.explore(depth: 100)
        print("attempts, \(onFailure): \(exploration)")
        #expect(exploration.violation == nil)
        #expect(exploration.isComplete && exploration.states > 10_000)
    }

    @Test("O-11 every wait is enforced, and ends, whatever the clocks do")
    func clocks() async throws {
        let exploration = try await ClockMachine().explore(depth: 6)
        print("clocks: \(exploration)")
        #expect(exploration.violation == nil)
        #expect(exploration.states > 10_000)
    }
}
