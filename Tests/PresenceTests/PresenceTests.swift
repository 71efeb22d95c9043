import Presence
import Testing

/// A check that answers as it is told.
private struct Answering: PresenceCheck {
    struct Unplugged: Error, Equatable {}

    let grade: PresenceGrade
    let answer: Bool?
    private(set) var asked: [String] = []

    init(_ grade: PresenceGrade, answer: Bool?) {
        self.grade = grade
        self.answer = answer
    }

    mutating func isPresent(for purpose: String) throws(Unplugged) -> Bool {
        asked.append(purpose)
        guard let answer else { throw Unplugged() }
        return answer
    }
}

struct PresenceTests {
    @Test(
        "a yes makes a proof of the check's grade, and asks once",
        arguments: [
            PresenceGrade.cryptographic, .advisory,
        ])
    func yes(grade: PresenceGrade) throws {
        var check = Answering(grade, answer: true)
        let proof = try check.prove(for: "show a code")
        #expect(check.asked == ["show a code"])
        guard let proof else {
            Issue.record("no proof of a yes")
            return
        }
        let proved = proof.grade
        #expect(proved == grade)
    }

    @Test("a no makes no proof, and a check that fails says why")
    func no() throws {
        var refusing = Answering(.advisory, answer: false)
        if try refusing.prove(for: "x") != nil { Issue.record("a proof of a no") }
        #expect(throws: Answering.Unplugged()) {
            var broken = Answering(.advisory, answer: nil)
            if try broken.prove(for: "x") != nil { Issue.record("a proof of nothing") }
        }
    }
}
