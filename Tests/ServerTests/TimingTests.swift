import Foundation
import ServiceTranscripts
import TestSupport
import Testing
import Verification
import VerificationService

/// Compares the response times of requests that must be indistinguishable.
///
/// `WATCHWORD_TIMING_SAMPLES` sets the number of samples of each kind.
///
/// The two kinds alternate, so that load on the machine affects both. If n samples of each come
/// from one distribution, the standard deviation of the measure is √((2n + 1) / 12n²): 0.0041 for
/// 10,000. The tolerance of ±0.02 is 4.9 standard deviations, which chance exceeds once in a
/// million runs. Bursts of other load are not random, so a measure outside the tolerance is
/// repeated with new samples; a real difference is outside again.
struct TimingTests {
    private static let samples =
        ProcessInfo.processInfo.environment["WATCHWORD_TIMING_SAMPLES"].flatMap { Int($0) }
        ?? 10_000

    /// The permitted distance of the measure from one half.
    private static let tolerance: Double = {
        let count = Double(samples)
        return 4.9 * ((2 * count + 1) / (12 * count * count)).squareRoot()
    }()

    /// A name; all names have the same length.
    private static func name(_ kind: String, _ round: Int, _ index: Int) -> String {
        "\(kind)-\(round * 1_000_000 + index)"
    }

    /// The probability that a value of `left` is larger than a value of `right`.
    ///
    /// It is one half if both come from the same distribution (Mann and Whitney's U, divided by the
    /// number of pairs). Noise that affects both moves it towards one half, and a single slow
    /// response does not matter.
    static func superiority(_ left: [Double], over right: [Double]) -> Double {
        let all = (left.map { ($0, true) } + right.map { ($0, false) }).sorted { $0.0 < $1.0 }
        var rankSum = 0.0
        var start = 0
        while start < all.count {
            var end = start
            while end < all.count, all[end].0 == all[start].0 { end += 1 }
            let rank = Double(start + end + 1) / 2
            rankSum += rank * Double(all[start..<end].count { $0.1 })
            start = end
        }
        let count = Double(left.count)
        return (rankSum - count * (count + 1) / 2) / (count * Double(right.count))
    }

    /// Measures pairs in alternating order and returns the result.
    private func compare(
        _ what: String, wrong: (Int) async throws -> Void, unknown: (Int) async throws -> Void
    ) async throws -> Double {
        var times: (wrong: [Double], unknown: [Double]) = ([], [])
        let clock = ContinuousClock()
        func time(_ body: () async throws -> Void) async throws -> Double {
            let passed = try await clock.measure { try await body() }.components
            return Double(passed.seconds) + Double(passed.attoseconds) / 1e18
        }
        for index in 0..<Self.samples {
            if index.isMultiple(of: 2) {
                times.wrong.append(try await time { try await wrong(index) })
                times.unknown.append(try await time { try await unknown(index) })
            } else {
                times.unknown.append(try await time { try await unknown(index) })
                times.wrong.append(try await time { try await wrong(index) })
            }
        }
        let superiority = Self.superiority(times.wrong, over: times.unknown)
        func median(_ times: [Double]) -> Int { Int(times.sorted()[times.count / 2] * 1e6) }
        print(
            "V-06 \(what): \(Self.samples) each, medians \(median(times.wrong)) µs (wrong) and "
                + "\(median(times.unknown)) µs (unknown), superiority \(superiority)")
        return superiority
    }

    @Test(
        "V-06 an unknown subject and a wrong code take equally long, over HTTP with SQLite",
        arguments: [false, true])
    func overHTTP(hasKey: Bool) async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let key = try await state.makeKey("verify,enrol,manage")
        let asker = try Asker(server.port, key: key, keepsConnection: true)
        func verify(_ subject: String, _ code: String) async throws {
            let headers = hasKey ? "Idempotency-Key: \(UUID().uuidString)\r\n" : ""
            let answer = try await asker.verify(subject, code, headers: headers)
            #expect(answer?.texts["result"] == "denied")
        }
        var measures: [Double] = []
        for round in 1...2 where measures.allSatisfy({ abs($0 - 0.5) > Self.tolerance }) {
            // Only as many wrong codes per subject as are not throttled.
            var subjects: [EnrolledSubject] = []
            for index in 0..<(Self.samples / Policy.standard.firstFailureWithWait + 1) {
                let name = Self.name("known", round, index)
                subjects.append(try await EnrolledSubject(name, asker))
            }
            let codes = subjects.map { $0.wrongCodes(1)[0] }
            let measure = try await compare(
                hasKey ? "over HTTP, with keys" : "over HTTP",
                wrong: { index in
                    let place = index % subjects.count
                    try await verify(subjects[place].name, codes[place])
                },
                unknown: { index in
                    try await verify(Self.name("other", round, index), "123456")
                })
            measures.append(measure)
        }
        #expect(measures.contains { abs($0 - 0.5) <= Self.tolerance }, "\(measures)")
        try await server.stop()
    }

    @Test(
        "the measure is 1/2 for equal distributions, and far from 1/2 if they differ by a tenth"
    )
    func measure() {
        let left = (0..<1_000).map { Double($0 % 17) + 100 }
        #expect(Self.superiority(left, over: left) == 0.5)
        #expect(Self.superiority(left.map { $0 + 10 }, over: left) > 0.8)
        #expect(Self.superiority(left, over: left.map { $0 + 100 }) == 0)
    }
}
