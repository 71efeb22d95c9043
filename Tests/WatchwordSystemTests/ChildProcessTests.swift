import Foundation
import Glibc
import TestSupport
import Testing

@testable import WatchwordSystem

@Suite struct ChildProcessTests {
    @Test("a child receives input and returns output")
    func echo() throws {
        let child = try ChildProcess(running: "/bin/cat")
        let text = Array("over and back".utf8)
        #expect(try write(text, to: child) == .moved(text.count))
        let buffer = try WipedBuffer(capacity: 64)
        while buffer.count < text.count {
            _ = try Polling.wait(for: [.reading(child.output)], timeout: .seconds(1))
            _ = try buffer.append { output throws(SystemCallFailure) in
                try child.output.readAvailable(into: &output)
            }
        }
        #expect(buffer.withBytes { bytes in bytes.indices.map { bytes[$0] } } == text)
        #expect(child.end().0 == .killed)
        #expect(child.end().0 == .killed, "a second call returns the same result")
    }

    @Test(
        "a child's exit status is reported", arguments: [("/bin/true", 0), ("/bin/false", 1)])
    func status(program: String, status: Int32) throws {
        let child = try ChildProcess(running: program)
        try waitForEnd(of: child)
        #expect(child.end().0 == .exited(status))
    }

    @Test("a child's peak memory does not include that of the process that started it")
    func peakMemory() throws {
        let memory = [UInt8](repeating: 1, count: 300 << 20)
        let child = try ChildProcess(running: "/bin/true")
        try waitForEnd(of: child)
        #expect(child.end().peakMemory < memory.count)
    }

    @Test("writing to a child that has exited is reported, and does not end the writer")
    func brokenPipe() throws {
        let child = try ChildProcess(running: "/bin/true")
        try waitForEnd(of: child)
        child.end()
        // A process that another test forks has a copy of the pipe until it calls exec.
        for _ in 0..<1_000 {
            if try write([1], to: child) == .ended { break }
            usleep(10_000)
        }
        // SIGPIPE has its default action here, and would end the tests.
        #expect(try write([1], to: child) == .ended)
        #expect(try write([1], to: child) == .ended)
        var pending = sigset_t()
        unsafe sigpending(&pending)
        let isPending = unsafe sigismember(&pending, SIGPIPE)
        #expect(isPending == 0, "no signal is pending")
    }

    @Test("an empty or full pipe is reported without waiting")
    func wouldWait() throws {
        // `cat` writes nothing before it has read something, and stops reading while its output
        // pipe is full.
        let child = try ChildProcess(running: "/bin/cat")
        let buffer = try WipedBuffer(capacity: 8)
        let progress = try buffer.append { output throws(SystemCallFailure) in
            try child.output.readAvailable(into: &output)
        }
        #expect(progress == .wouldWait)
        let much = [UInt8](repeating: 1, count: 1 << 20)
        var calls = 0
        while case .moved = try write(much, to: child), calls < 100 { calls += 1 }
        #expect(calls < 100)
    }

    @Test("a missing program is reported with the failed call and its error number")
    func missing() throws {
        #expect(throws: SystemCallFailure(call: "posix_spawn", number: ENOENT)) {
            try ChildProcess(running: "/nonexistent")
        }
    }

    @Test(
        "O-14 a child inherits none of its parent's descriptors",
        .enabled(if: geteuid() == 0, "only root can inspect a process that forbids core dumps"),
        arguments: [
            "/bin/cat", "watchword-reader", "watchword-exports", "watchword-presence",
            "watchword-courier",
        ])
    func descriptors(program: String) throws {
        let folder = try TemporaryFolder()
        let secret = try folder.write(Array("passphrase\n".utf8), to: "pass.txt")
        // Without O_CLOEXEC, as a shell opens `3<pass.txt`.
        let inherited = (0..<20).map { _ in unsafe Glibc.open(secret, O_RDONLY) }
        defer { for descriptor in inherited { close(descriptor) } }
        #expect(inherited.allSatisfy { $0 > STDERR_FILENO })
        // No process reads from the full socket, so the program blocks when it writes, at the
        // latest.
        let connection = try SocketPair()
        try connection.second.setBlocking(false)
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        while case .moved = try connection.second.writeAvailable(zeros.span) {}
        try connection.second.setBlocking(true)
        let child = try ChildProcess(
            running: program.hasPrefix("/") ? program : BuiltProgram.path(program), over: connection
        )
        let folderOfOpen = "/proc/\(child.identifier)/fd"
        let files = FileManager.default
        let targets = try files.contentsOfDirectory(atPath: folderOfOpen).compactMap { number in
            // Descriptors that the program itself opened at its start may be closed by now.
            do {
                return try files.destinationOfSymbolicLink(atPath: "\(folderOfOpen)/\(number)")
            } catch { return nil }
        }
        #expect(targets.count >= 3)
        #expect(targets.count { $0 == secret } == 0)
        #expect(child.end().0 == .killed, "it was alive")
    }

    private func waitForEnd(of child: ChildProcess) throws {
        let buffer = try WipedBuffer(capacity: 64)
        while true {
            _ = try Polling.wait(for: [.reading(child.output)], timeout: .seconds(1))
            let progress = try buffer.append { output throws(SystemCallFailure) in
                try child.output.readAvailable(into: &output)
            }
            if progress == .ended { return }
        }
    }

    private func write(
        _ bytes: [UInt8], to child: ChildProcess
    ) throws -> FileDescriptor.Progress {
        try child.input.writeAvailable(bytes.span)
    }
}
