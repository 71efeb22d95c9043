import TestSupport
import Testing

import ProcessConfinement
@testable import WatchwordSystem

struct HelperGreetingTests {
    private static let program = HelperGreeting.Identity(mark: "WWT", version: 2)
    private static let greetings: [HelperGreeting] = [
        .confined, .notConfined(SystemCallFailure(call: "seccomp_load", number: 38)),
    ]

    @Test("a greeting arrives unchanged", arguments: greetings)
    func roundTrip(greeting: HelperGreeting) {
        #expect(parse(greeting.bytes(from: Self.program)) == greeting)
    }

    @Test("a truncated greeting and one with trailing bytes are rejected", arguments: greetings)
    func wrongLength(greeting: HelperGreeting) {
        let bytes = greeting.bytes(from: Self.program)
        for count in 0..<bytes.count { #expect(parse(Array(bytes.prefix(count))) == .unexpected) }
        #expect(parse(bytes + [0]) == .unexpected)
    }

    @Test("the greeting of another program or version is rejected")
    func otherProgram() {
        for other in [("WWT", 3), ("WWR", 2)] as [(String, UInt8)] {
            let identity = HelperGreeting.Identity(mark: other.0, version: other.1)
            #expect(parse(HelperGreeting.confined.bytes(from: identity)) == .unexpected)
        }
    }

    @Test("characters that a terminal interprets become question marks")
    func terminal() {
        let failure = SystemCallFailure(call: "\u{1B}[2J", number: 1)
        let bytes = HelperGreeting.notConfined(failure).bytes(from: Self.program)
        #expect(parse(bytes) == .notConfined(SystemCallFailure(call: "?[2J", number: 1)))
    }

    private func parse(_ bytes: [UInt8]) -> HelperGreeting {
        HelperGreeting(parsing: bytes.span, from: Self.program)
    }
}
