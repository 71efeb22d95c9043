import Foundation
import TestSupport
import Testing

/// Counts the instructions of secret comparisons with callgrind.
///
/// Unlike durations, the counts do not depend on the load of the machine.
struct ConstantTimeTests {
    /// The instruction counts of the calls, by the group that the program prints.
    private func counts() throws -> [String: [Int]] {
        let folder = try TemporaryFolder()
        // Valgrind cannot read the debug information that the Swift compiler writes.
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
        "V-22 comparing secrets takes the same number of instructions, regardless of where they differ",
        .enabled(
            if: ForeignProgram("valgrind") != nil && ForeignProgram("strip") != nil,
            "valgrind or binutils is missing"))
    func comparisons() throws {
        var counts = try counts()
        // The control stops at the first difference. It shows that the test would detect a leak.
        let control = try #require(counts["control"])
        counts["control"] = nil
        #expect(control.count == 5 && Set(control).count >= 4, "\(control)")
        var groups: Set = ["bytes", "secrets"]
        // A release build cannot call functions that are internal to its module.
        #if DEBUG
            groups.formUnion(["chain", "successor"])
        #endif
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
