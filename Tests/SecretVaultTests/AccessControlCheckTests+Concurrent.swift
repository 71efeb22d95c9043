import Testing

@testable import SecretVault

// Checks during which the vault is changed by other processes.
extension AccessControlCheckTests {
    @Test("while the vault may not be changed, no check begins and nothing is saved")
    func notNow() throws {
        let (vault, ids) = try made()
        let open = try vault.unlock()
        let before = try vault.bytes()
        open.mayChange = { false }
        let late = Answering(answer: .success(true)) { Issue.record("the check ran") }
        #expect(try outcome(late, open, ids[0]) == "\(Refusal.vault(.busy))")
        #expect(throws: VaultError.busy) {
            try open.change { try $0.remove(ids[1], purge: false) }
        }
        #expect(try vault.attempts().isEmpty)
        #expect(try vault.bytes() == before)
    }

    @Test("a failed check counts, even if another check has succeeded and cleared the count")
    func clearedMeanwhile() throws {
        let (vault, ids) = try made()
        let open = try vault.unlock()
        let other = try vault.unlock()
        let refused = Answering(answer: .success(false)) {
            let said = try self.outcome(Self.yes, other, ids[0])
            let counted = try vault.attempts()
            #expect(said == "GitHub" && counted.isEmpty)
        }
        #expect(try outcome(refused, open, ids[0]) == "\(Self.firstRefusal)")
        #expect(try vault.attempts().records[ids[0]]?.failures.refused == 1)
    }

    @Test(
        "while a check may cause a wait, no other check runs; without a result, it is not counted"
    )
    func brokenOffMeanwhile() throws {
        let (vault, ids) = try made()
        let open = try vault.unlock()
        let other = try vault.unlock()
        try refuse(LockOutPolicy.failuresUntilWait - 1, open, ids[0])
        let deaf = Answering.Broken(mayConcealAttempt: false)
        let broken = Answering(answer: .failure(deaf)) {
            // The running attempt may cause a wait, so no second check runs.
            let said = try self.outcome(Self.no, other, ids[0])
            #expect(said == "\(Self.locked)")
        }
        #expect(try outcome(broken, open, ids[0]) == "\(Refusal.check(deaf))")
        #expect(
            try vault.attempts().records[ids[0]]?.failures.count == LockOutPolicy
                .firstFailureWithWait - 1)
        #expect(try outcome(Self.no, open, ids[0]) == "\(Self.firstWait)")
    }
}
