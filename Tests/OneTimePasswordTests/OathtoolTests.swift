import TestSupport
import Testing
import WatchwordCryptography

@testable import OneTimePassword

@Suite("Agreement with oathtool")
struct OathtoolTests {
    private static let oathtool = ForeignProgram("oathtool")

    // oathtool prints a run of codes at once (`--window`), so one process prints ten of the
    // thousand codes. It supports six, seven and eight digits, signed 64-bit times, and hashes
    // other than SHA-1 for TOTP only.
    @Test(
        "T-02 T-06 a thousand codes for random keys, times, digits and algorithms match oathtool's",
        .enabled(if: oathtool != nil, "oathtool is not installed"))
    func agreement() throws {
        let oathtool = try #require(Self.oathtool)
        var generator = SeededGenerator(seed: UInt64.random(in: 0...UInt64.max))
        for round in 0..<100 {
            let key = generator.key()
            let digits = Int.random(in: 6...8, using: &generator)
            let algorithm = HashAlgorithm.allCases[round % 3]
            let isHOTP = algorithm == .sha1 && round % 2 == 0
            let first: UInt64
            var arguments = ["--digits=\(digits)", "--window=9"]
            if isHOTP {
                first = generator.number() >> 1
                arguments.append("--counter=\(first)")
            } else {
                // From 1970 to far beyond 2038.
                let time = Int64(generator.number() >> 20)
                let step = Int64.random(in: 1...120, using: &generator)
                first = try #require(TimeStep(period: step)?.step(at: time))
                arguments += [
                    "--totp=\(algorithm.rawValue.lowercased())", "--now=@\(time)",
                    "--time-step-size=\(step)s",
                ]
            }
            // The secret is public, so it may be passed as an argument.
            arguments.append(Hex.text(key.bytes))
            let outcome = try oathtool.run(arguments)
            let codes = CodeGenerator(
                key: key, algorithm: algorithm,
                style: .decimal(try #require(CodeLength(digits: digits))))
            let ours = (0..<10).map { codes.code(at: first &+ $0).text }
            #expect(outcome.text.split(separator: "\n").map(String.init) == ours, "\(arguments)")
        }
    }
}
