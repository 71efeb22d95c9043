internal import Glibc
internal import Pictures
import ProcessConfinement
internal import TestSupport
internal import Testing
internal import WatchwordSystem

/// Whatever an image makes its reader do, only that image is lost.
@Suite struct FaultyReaderTests {
    @Test(
        "a reader that makes a forbidden system call is killed at once",
        arguments: [
            "open a file", "make a file", "open a socket", "fork", "start a thread",
            "run a program", "signal the parent", "write to standard input",
            "read standard output", "use another descriptor", "duplicate a descriptor",
            "map executable memory", "make memory executable", "raise a limit", "list a folder",
        ])
    func forbiddenCall(fault: String) throws {
        let readings = try ReaderPool(program: "FaultyReader")
            .read(contents: ["before", fault, "after"])
        #expect(readings == [.symbol("before"), .refused(.lost(.forbiddenCall)), .symbol("after")])
    }

    @Test(
        "a reader with a library is killed for a system call that libraries do not need",
        arguments: [
            "open a socket", "fork", "run a program", "signal the parent",
            "write to standard input", "read standard output", "use another descriptor",
            "duplicate a descriptor", "map executable memory", "make memory executable",
            "raise a limit",
        ])
    func forbiddenLibraryCall(fault: String) throws {
        let readings = try ReaderPool(program: "FaultyReader")
            .read(contents: ["GIF89abefore", "GIF89a" + fault, "GIF89aafter"])
        #expect(
            readings == [
                .symbol("GIF89abefore"), .refused(.lost(.forbiddenCall)), .symbol("GIF89aafter"),
            ])
    }

    @Test(
        "a reader with a library may start threads, and cannot open files",
        arguments: ["open a file", "make a file", "start a thread", "list a folder"])
    func libraryCall(attempt: String) throws {
        let made = "/tmp/made-by-a-faulty-reader"
        let readings = try ReaderPool(program: "FaultyReader").read(contents: ["GIF89a" + attempt])
        #expect(readings == [.symbol("GIF89a" + attempt)])
        #expect(unsafe access(made, F_OK) != 0)
    }

    @Test(
        "a reader's crash is reported with its signal",
        arguments: [
            ("trap", [4, 5]), ("segfault", [11]), ("abort", [6]), ("overflow the stack", [11]),
        ])
    func crash(fault: String, signals: [Int32]) throws {
        let readings = try ReaderPool(program: "FaultyReader")
            .read(contents: ["before", fault, "after"])
        #expect(readings.count == 3)
        #expect(readings.first == .symbol("before"))
        #expect(signals.map { Reading.refused(.lost(.crashed(signal: $0))) }.contains(readings[1]))
        #expect(readings.last == .symbol("after"))
    }

    @Test("a reader in an endless loop is killed when the timeout expires")
    func loop() throws {
        let reader = try ReaderPool(program: "FaultyReader", timeout: .milliseconds(300))
        #expect(try reader.read(contents: ["loop"]) == [.refused(.lost(.timedOut))])
        let slow = try ReaderPool(program: "FaultyReader", timeout: .seconds(5))
        #expect(
            try slow.read(contents: ["before", "loop", "after"])
                == [.symbol("before"), .refused(.lost(.timedOut)), .symbol("after")])
    }

    @Test("a reader that allocates too much memory hits its limit")
    func memory() throws {
        var usage = rusage()
        let measured = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #expect(measured == 0)
        let readings = try ReaderPool(program: "FaultyReader")
            .read(contents: ["before", "eat memory", "after"])
        // The kernel counts this process's memory as the reader's, so if it is larger than the
        // reader's limit, the cause of the crash is unknown.
        let isCauseKnown = usage.ru_maxrss < 1 << 19
        let outcomes: [Reading] =
            [.refused(.lost(.tooMuchMemory))]
            + (isCauseKnown ? [] : [6, 5].map { .refused(.lost(.crashed(signal: $0))) })
        #expect(readings.count == 3)
        #expect(readings.first == .symbol("before"))
        #expect(outcomes.contains(readings[1]))
        #expect(readings.last == .symbol("after"))
    }

    @Test("a reader that exits without an answer is reported")
    func leaving() throws {
        let readings = try ReaderPool(program: "FaultyReader").read(contents: ["leave", "after"])
        #expect(readings == [.refused(.lost(.noResponse)), .symbol("after")])
    }

    @Test("a reader has an empty environment")
    func environment() throws {
        let readings = try ReaderPool(program: "FaultyReader").read(contents: ["environment"])
        #expect(readings == [.refused(.noSymbol(tried: []))])
    }

    @Test("bad pictures between good ones do not affect the good ones")
    func mixture() throws {
        let contents = (0..<40).map { $0 % 4 == 1 ? "segfault" : "picture \($0)" }
        let readings = try ReaderPool(program: "FaultyReader").read(contents: contents)
        #expect(
            readings
                == contents.map {
                    $0 == "segfault" ? .refused(.lost(.crashed(signal: 11))) : .symbol($0)
                })
    }
}
