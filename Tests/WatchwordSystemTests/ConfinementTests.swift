import Foundation
import TestSupport
import Testing

@testable import WatchwordSystem

/// Checks the kernel's information about the reader after its greeting.
@Suite struct ConfinementTests {
    @Test(
        "a confined process has a system call filter, no way to gain privileges, and tight limits",
        arguments: [nil, "giflib", "libtiff", "libheif", "gdk-pixbuf", "librsvg", "poppler"])
    func facts(library: String?) throws {
        let child = try ChildProcess(
            running: BuiltProgram.path("watchword-reader"), argument: library)
        try waitForWord(from: child)
        let status = try lines(of: child, "status")
        #expect(status["Seccomp"] == "2")
        #expect(status["NoNewPrivs"] == "1")
        #expect(status["Threads"] == "1")
        #expect(status["SigCgt"] == "0000000000000000", "no handler is left")
        let limits = try String(contentsOfFile: proc(child, "limits"), encoding: .utf8)
        for (name, value) in [
            ("Max core file size", "0"), ("Max open files", "0"), ("Max file size", "0"),
            ("Max address space", "1073741824"), ("Max data size", "1073741824"),
        ] {
            let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix(name) })
            let fields = line.dropFirst(name.count).split(separator: " ")
            #expect(fields.prefix(2).allSatisfy { $0 == value }, "\(line)")
        }
        #expect(
            try String(contentsOfFile: proc(child, "oom_score_adj"), encoding: .utf8) == "1000\n")
    }

    @Test(
        "O-14 a confined process has its three standard streams and no other descriptor",
        .enabled(if: geteuid() == 0, "only root can inspect a process that forbids core dumps"))
    func descriptors() throws {
        // A descriptor that the child inherits on purpose.
        let leaked = unsafe open("/dev/null", O_RDONLY)
        defer { close(leaked) }
        let child = try ChildProcess(running: BuiltProgram.path("watchword-reader"))
        try waitForWord(from: child)
        let open = try FileManager.default.contentsOfDirectory(atPath: proc(child, "fd"))
        #expect(open.sorted() == ["0", "1", "2"])
        let errors = try FileManager.default.destinationOfSymbolicLink(atPath: proc(child, "fd/2"))
        #expect(errors == "/dev/null")
    }

    private func waitForWord(from child: ChildProcess) throws {
        var waited = Duration.zero
        while waited < .seconds(60) {
            let before = waited
            waited += try Polling.wait(for: [.reading(child.output)], timeout: .seconds(1))
            if waited - before < .seconds(1) { return }
        }
        Issue.record("the reader sent nothing")
    }

    private func proc(_ child: ChildProcess, _ file: String) -> String {
        "/proc/\(child.identifier)/\(file)"
    }

    private func lines(of child: ChildProcess, _ file: String) throws -> [String: String] {
        let text = try String(contentsOfFile: proc(child, file), encoding: .utf8)
        var found: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            found[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        return found
    }
}
