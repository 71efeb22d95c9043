import TestSupport
import Testing
import WatchwordCryptography

import ProcessConfinement
@testable import WatchwordSystem

struct HelperGreetingTests {
    private static let program = HelperGreeting.Identity(mark: "WWT", version: 2)
    private static let failures = [nil, SystemCallFailure(call: "seccomp_load", number: 38)]

    @Test("a greeting arrives unchanged", arguments: failures)
    func roundTrip(failure: SystemCallFailure?) throws {
        let greeting = failure.map(HelperGreeting.notConfined) ?? .confined
        #expect(parse(try bytes(failure)) == greeting)
    }

    @Test("a truncated greeting and one with trailing bytes are rejected", arguments: failures)
    func wrongLength(failure: SystemCallFailure?) throws {
        let bytes = try bytes(failure)
        for count in 0..<bytes.count { #expect(parse(Array(bytes.prefix(count))) == .unexpected) }
        #expect(parse(bytes + [0]) == .unexpected)
    }

    @Test("the greeting of a different program or version is rejected")
    func otherProgram() throws {
        for other in [("WWT", 3), ("WWR", 2)] as [(String, UInt8)] {
            let identity = HelperGreeting.Identity(mark: other.0, version: other.1)
            #expect(parse(try bytes(from: identity)) == .unexpected)
        }
    }

    @Test("characters that a terminal interprets become question marks")
    func terminal() throws {
        let failure = SystemCallFailure(call: "\u{1B}[2J", number: 1)
        #expect(
            parse(try bytes(failure)) == .notConfined(SystemCallFailure(call: "?[2J", number: 1)))
    }

    @Test("the longest greeting has at most the maximum size")
    func longest() throws {
        let long = String(repeating: "x", count: 99)
        let identity = HelperGreeting.Identity(mark: "watchword-agent", version: 1)
        let failure = SystemCallFailure(call: long, number: 1)
        #expect(try bytes(failure, from: identity).count <= HelperGreeting.maximumCount)
    }

    private func bytes(
        _ failure: SystemCallFailure? = nil,
        from program: HelperGreeting.Identity = HelperGreetingTests.program
    ) throws -> [UInt8] {
        try HelperGreeting.frame(from: program, failure: failure).withContent { content in
            content.indices.map { content[$0] }
        }
    }

    private func parse(_ bytes: [UInt8]) -> HelperGreeting {
        HelperGreeting(parsing: bytes.span, from: Self.program)
    }
}
