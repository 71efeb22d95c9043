import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@Suite("Credentials")
struct CredentialTests {
    private let key = SecretBytes(text: "12345678901234567890")

    @Test("an empty key is refused")
    func emptyKey() throws {
        #expect(throws: OneTimePasswordError.emptyKey) {
            try Credential(issuer: "A", account: "b", key: SecretBytes(text: ""))
        }
        #expect(
            try Credential(issuer: "A", account: "b", key: SecretBytes(text: "x")).key.count == 1)
    }

    @Test(
        "a name with a space of any kind at either end is refused",
        arguments: [
            " a", "a ", " ", "\u{A0}a", "a\u{A0}", "a\u{1680}", "a\u{2000}", "a\u{2003}",
            "a\u{200A}", "a\u{202F}", "\u{205F}a", "a\u{3000}", "\u{3000}",
        ])
    func spaces(name: String) throws {
        #expect(throws: OneTimePasswordError.spaceAround(.issuer)) {
            try Credential(issuer: name, account: "b", key: key)
        }
        #expect(throws: OneTimePasswordError.spaceAround(.account)) {
            try Credential(issuer: "A", account: name, key: key)
        }
        for inside in ["a b", "a\u{A0}b", "a\u{3000}b"] {
            #expect(try Credential(issuer: inside, account: "", key: key).issuer == inside)
        }
    }

    @Test("additional parameters with a duplicate or reserved name are refused")
    func parameters() throws {
        func make(_ names: [String], _ factor: MovingFactor) throws(OneTimePasswordError)
            -> Credential
        {
            try Credential(
                issuer: "A", account: "b", key: key, movingFactor: factor,
                otherParameters: names.map { .init(name: $0, value: "") })
        }
        #expect(try make(["x", "y"], .time(.standard)).otherParameters.count == 2)
        #expect(try make(["counter"], .time(.standard)).otherParameters.count == 1)
        #expect(throws: OneTimePasswordError.parameter(position: 1)) {
            try make(["x", "X"], .time(.standard))
        }
        #expect(throws: OneTimePasswordError.parameter(position: 0)) {
            try make(["Secret"], .time(.standard))
        }
        #expect(throws: OneTimePasswordError.parameter(position: 0)) {
            try make(["counter"], .counter(0))
        }
    }

    @Test("values outside the standards cause a warning; values at the standards' limits do not")
    func warnings() throws {
        func warnings(_ count: Int, _ digits: Int, _ period: Int64) throws -> [CredentialWarning] {
            try Credential(
                issuer: "A", account: "b",
                key: SecretBytes(text: String(repeating: "k", count: count)),
                style: .decimal(#require(CodeLength(digits: digits))),
                movingFactor: .time(#require(TimeStep(period: period)))
            ).warnings
        }
        #expect(try warnings(16, 6, 120).isEmpty)
        #expect(try warnings(16, 8, 1).isEmpty)
        #expect(try warnings(15, 6, 30) == [.shortKey(bits: 120)])
        #expect(try warnings(16, 5, 30) == [.digits(5)])
        #expect(try warnings(16, 9, 30) == [.digits(9)])
        #expect(try warnings(16, 6, 121) == [.longPeriod(seconds: 121)])
    }

    @Test("H-03 one to ten digits are accepted, and six to eight are standard", arguments: 1...10)
    func codeLength(digits: Int) {
        #expect(CodeLength(digits: digits)?.isStandard == (6...8).contains(digits))
    }

    @Test("fewer than one or more than ten digits are refused", arguments: [0, 11, -1])
    func unsupportedLength(digits: Int) {
        #expect(CodeLength(digits: digits) == nil)
    }

    @Test("each time step lasts exactly one period, and a time before the first step is refused")
    func steps() throws {
        let step = try #require(TimeStep(period: 30, start: 10))
        #expect(step.step(at: 10) == 0)
        #expect(step.step(at: 39) == 0)
        #expect(step.step(at: 40) == 1)
        #expect(step.remaining(at: 10) == 30)
        #expect(step.remaining(at: 39) == 1)
        #expect(step.remaining(at: 40) == 30)
        #expect(step.step(at: 9) == nil)
        #expect(step.remaining(at: 9) == nil)
        #expect(TimeStep(period: 0) == nil)
        #expect(TimeStep(period: -30) == nil)
    }

    @Test("T-06 the largest difference between two times does not overflow")
    func widestSteps() throws {
        let step = try #require(TimeStep(period: 1, start: .min))
        #expect(step.step(at: .max) == .max)
        #expect(step.remaining(at: .max) == 1)
        let long = try #require(TimeStep(period: .max, start: .min))
        #expect(long.step(at: .max) == 2)
        #expect(long.remaining(at: .max) == Int64.max - 1)
    }

    @Test("a time-based credential refuses a counter, and a counter-based one refuses a time")
    func movingFactors() throws {
        let timed = try Credential(issuer: "", account: "", key: key)
        let counted = try Credential(issuer: "", account: "", key: key, movingFactor: .counter(1))
        #expect(try timed.code(atUnixTime: 59).text == "287082")
        #expect(try counted.code(counter: 1).text == "287082")
        #expect(throws: OneTimePasswordError.otherMovingFactor) { _ = try timed.code(counter: 1) }
        #expect(throws: OneTimePasswordError.otherMovingFactor) {
            _ = try counted.code(atUnixTime: 59)
        }
        #expect(throws: OneTimePasswordError.beforeStart) { _ = try timed.code(atUnixTime: -1) }
    }
}
