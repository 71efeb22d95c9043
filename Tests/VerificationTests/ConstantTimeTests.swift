import Foundation
import TestSupport
import Testing

/// How many instructions comparisons of secrets take, as callgrind counts them: the same number each
/// time, on a machine that is busy as on one that is not.
struct ConstantTimeTests {
    /// The instructions of each call, by the group of calls that the program names.
    private func counts() throws -> [String: [Int]] {
        let folder = try TemporaryFolder()
        // Valgrind does not read the debug information of Swift's compiler.
        let program = folder.file("probe")
        let strip = try #require(ForeignProgram("strip"))
        let stripped = try strip.run(
            ["-o", program, BuiltProgram.path("constant-time-probe")])
        try #require(stripped.status == 0)
        let valgrind = try #require(ForeignProgram("valgrind"))
        let outcome = try valgrind.run([
            "--tool=callgrind", "--quiet", "--collect-atstart=no", "--combine-dumps=yes",
            "--callgrind-out-file=\(folder.file("counts"))", program,
        ])
        try #require(outcome.status == 0, "\(String(decoding: outcome.errors, as: UTF8.self))")
        let names = outcome.text.split(separator: "\n")
        var counts: [Int] = []
        for part in String(decoding: try folder.bytes(of: "counts"), as: UTF8.self)
            .components(separatedBy: "\npart:")
        {
            let lines = part.split(separator: "\n")
            guard lines.contains(where: { $0.hasPrefix("desc: Trigger: Client Request") }),
                let line = lines.first(where: { $0.hasPrefix("totals:") }),
                let number = line.split(separator: " ").last.flatMap({ Int($0) })
            else { continue }
            counts.append(number)
        }
        try #require(counts.count == names.count)
        return Dictionary(grouping: zip(names, counts)) { String($0.0) }.mapValues { $0.map(\.1) }
    }

    @Test(
        "V-22 comparing secrets takes equally many instructions, wherever they differ",
        .enabled(
            if: ForeignProgram("valgrind") != nil && ForeignProgram("strip") != nil,
            "valgrind or binutils is missing"))
    func comparisons() throws {
        var counts = try counts()
        // A comparison that stops at the first difference is seen, so that equal counts mean something.
        let control = try #require(counts["control"])
        counts["control"] = nil
        #expect(control.count == 5 && Set(control).count >= 4, "\(control)")
        var groups: Set = ["bytes", "secrets", "chain", "successor"]
        for algorithm in ["sha1", "sha256", "sha512"] {
            groups.formUnion(["right \(algorithm)", "wrong \(algorithm)"])
        }
        #expect(Set(counts.keys) == groups)
        for (group, counts) in counts {
            #expect(counts.count >= 3, "\(group)")
            #expect(Set(counts).count == 1, "\(group): \(counts)")
            #expect(counts[0] > 50, "\(group)")
        }
    }
}
