import Devices
import TestSupport
import Testing

@testable import SecretVault

/// Counts for more entries than fit in the file.
struct CrowdedCountsTests {
    private struct Check: PresenceCheck {
        typealias Grade = Advisory
        struct NotMade: PresenceFailure, Equatable { let mayConcealAttempt = false }

        /// The answer of the check; `nil` if no check is made.
        let answer: Bool?

        mutating func isPresent(for purpose: String) throws(NotMade) -> Bool {
            guard let answer else { throw NotMade() }
            return answer
        }
    }

    /// Whether a check with this answer opens the entry, or the error of the vault if no check is
    /// made.
    private func opens(
        _ id: RecordID, _ vault: UnlockedVault, _ answer: Bool?
    ) throws(VaultError) -> Bool {
        var check = Check(answer: answer)
        do {
            _ = try vault.proof(&check, for: id)
            return true
        } catch .vault(let error) {
            throw error
        } catch {
            return false
        }
    }

    @Test("failures of ninety newer entries do not lock out an older entry, and stay counted")
    func crowded() throws {
        let file = try TestVault()
        let vault = try file.unlock()
        let perUse = AccessControl(presence: .perUse(.any), onFailure: .lockOut)
        func add(_ count: Int) throws -> [RecordID] {
            var ids: [RecordID] = []
            try vault.update { changes throws(VaultError) in
                for number in 0..<count {
                    let name = "\(count)-\(number)"
                    ids.append(
                        try changes.add(
                            .plainSecret(issuer: "", account: name, value: secret("y")),
                            accessControl: perUse, now: TestVault.now))
                }
            }
            return ids.sorted { $0.precedes($1) }
        }
        let (oldest, added) = (try add(1)[0], try add(90))
        let (second, newest) = (added[0], added[89])
        for id in added { #expect(try !opens(id, vault, false)) }
        let full = try file.attempts().records
        #expect(full.count == Attempts.maximumRecordCount)
        // A check that is not made, or passes, does not change the other counts.
        #expect(try !opens(oldest, vault, nil))
        #expect(try file.attempts().records == full)
        #expect(try opens(oldest, vault, true))
        #expect(try file.attempts().records == full)
        // A check that fails is counted, and locks out the newest entry.
        #expect(try !opens(oldest, vault, false))
        #expect(throws: VaultError.overLimit(.countedEntries)) { try opens(newest, vault, true) }
        #expect(try opens(second, vault, true))
        #expect(try opens(newest, vault, true))
    }
}
