import TestSupport
import Testing

@testable import WatchwordSystem

struct ProgramInputTests {
    private func status(
        _ script: String, input: String = "", timeout: Duration = .seconds(30)
    ) throws -> Int32? {
        try ProgramInput.run(
            "/bin/sh", ["-c", script], input: Array(input.utf8).span, environment: ["HOME"],
            timeout: timeout)
    }

    @Test("a program reads its input to the end, and its exit status is returned")
    func input() throws {
        #expect(try status("test \"$(cat)\" = hello && exit 7", input: "hello") == 7)
        #expect(try status("test \"$(cat)\" = '' && exit 8") == 8)
        #expect(try status("exit 0") == 0)
    }

    @Test("a program has its own session, the folder /, and only the variables that it inherits")
    func surroundings() throws {
        #expect(try status("test \"$PWD\" = / && test -z \"$LC_ALL$USER\" && exit 3") == 3)
        #expect(try status("test \"$(cut -d' ' -f6 /proc/$$/stat)\" = $$ && exit 4") == 4)
        #expect(try status("test -t 1 || test -t 2 || exit 5") == 5)
    }

    @Test("a program that takes too long is killed; programs that it leaves behind are not awaited")
    func timeout() throws {
        #expect(try status("exec sleep 60", timeout: .milliseconds(100)) == nil)
        #expect(try status("sleep 3 & exit 6") == 6)
    }

    @Test("input that may not fit into a pipe is refused")
    func limit() throws {
        let longest = String(repeating: "x", count: ProgramInput.limit)
        #expect(try status("test $(wc -c) = 4096 && exit 2", input: longest) == 2)
        #expect(throws: SystemCallFailure.self) { try status("exit 0", input: longest + "x") }
    }
}
