import Foundation
import TestSupport
import Testing
import WatchwordSystem

@testable import Commands
@testable import Devices

/// Codes on the clipboard of a display that the test starts, and of the terminal.
@Suite(.serialized)
struct CopyTests {
    private static let hasX11 = ForeignProgram("Xvfb") != nil
    private static let hasWayland = hasX11 && ForeignProgram("weston") != nil

    @Test(
        "a code is put on the clipboard, and not printed",
        .enabled(if: CopyTests.hasX11, "the package xvfb is not installed"),
        arguments: ["xclip", "xsel", "wl-copy"])
    func copied(_ tool: String) throws {
        guard let desktop = try desktop(for: tool) else { return }
        let fixture = try VaultFixture()
        let outcome = try fixture.run(
            desktop.variables
                + "watchword code me --copy=\(tool) --clear-after 0 --passphrase-file pass.txt")
        #expect(outcome.output == [])
        #expect(
            String(decoding: outcome.errors, as: UTF8.self)
                == "Copied the code of Site:me; the clipboard is not cleared.\n")
        // xsel exits before its background process owns the clipboard.
        var code = ""
        let end = Date(timeIntervalSinceNow: 20)
        while code.isEmpty, Date() < end { code = try desktop.content() }
        #expect(code.count == 6 && code.allSatisfy(\.isNumber))
    }

    @Test(
        "the clipboard is cleared after the time in --clear-after",
        .enabled(if: CopyTests.hasX11, "the package xvfb is not installed"),
        arguments: ["xclip", "xsel", "wl-copy"])
    func cleared(_ tool: String) throws {
        guard let desktop = try desktop(for: tool) else { return }
        let fixture = try VaultFixture()
        let outcome = try fixture.run(
            desktop.variables
                + "watchword code me --copy=\(tool) --clear-after 2 --passphrase-file pass.txt")
        #expect(
            String(decoding: outcome.errors, as: UTF8.self)
                == "Copied the code of Site:me; the clipboard will be cleared in 2 s.\n")
        try waitForHelpers()
        #expect(try desktop.content() == "")
    }

    @Test(
        "text that the user copies in the meantime is kept",
        .enabled(if: CopyTests.hasX11, "the package xvfb is not installed"),
        arguments: ["xclip", "xsel", "wl-copy"])
    func kept(_ tool: String) throws {
        guard let desktop = try desktop(for: tool) else { return }
        let fixture = try VaultFixture()
        try fixture.run(
            desktop.variables
                + "watchword -q code me --copy=\(tool) --clear-after 2 --passphrase-file pass.txt")
        try desktop.copy("mine")
        try waitForHelpers()
        #expect(try desktop.content() == "mine")
    }

    @Test(
        "the clipboard is cleared when the code expires, or after 45 seconds",
        arguments: [
            (nil, 45), (1_046, 45), (1_045, 45), (1_044, 44), (1_001, 1), (990, 1),
        ] as [(Int64?, UInt32)])
    func delay(end: Int64?, seconds: UInt32) {
        let copy = CodeCopy(route: .tool(.xclip), clearAfter: nil, helper: "helper")
        #expect(copy.delay(until: end, now: 1_000) == seconds)
        let chosen = CodeCopy(route: .tool(.xclip), clearAfter: 60, helper: "helper")
        #expect(chosen.delay(until: end, now: 1_000) == 60)
        let kept = CodeCopy(route: .terminal, clearAfter: nil, helper: nil)
        #expect(kept.delay(until: end, now: 1_000) == nil)
    }

    @Test(
        "OSC 52 sends the code to the terminal's clipboard, which is not cleared",
        arguments: [true, false])
    func terminal(_ isChosen: Bool) throws {
        let fixture = try VaultFixture()
        let terminal = try PseudoTerminal(
            "watchword code me --at 59 \(isChosen ? "--copy=osc52" : "-c")"
                + " --passphrase-file pass.txt",
            in: fixture.folder, environment: isChosen ? [:] : ["SSH_TTY": "/dev/pts/9"])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.hasPrefix("\u{1B}]52;c;Mjg3MDgy\u{7}"))
        #expect(
            terminal.screen.hasSuffix(
                "Copied the code of Site:me to the terminal's clipboard, which is not cleared.\r\n")
        )
    }

    @Test("Enter in pick copies the code")
    func pick() throws {
        let fixture = try VaultFixture()
        let terminal = try fixture.terminal(
            "watchword pick --copy=osc52 --passphrase-file pass.txt; echo \"exit $?\"")
        try terminal.waitFor("Escape to quit")
        try terminal.type("\r")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("\u{1B}]52;c;"))
        #expect(terminal.screen.contains("exit 0"))
    }

    @Test("Enter in watch copies the selected code, and the last line confirms this")
    func watch() throws {
        let fixture = try VaultFixture()
        let terminal = try fixture.terminal(
            "exec watchword watch --copy=osc52 --passphrase-file pass.txt")
        try terminal.waitFor("(1 of 1)")
        try terminal.type("\r")
        try terminal.waitFor("\u{1B}]52;c;")
        try terminal.waitFor("Copied the code of Site:me to the terminal's clipboard")
        try terminal.type("q")
        #expect(try terminal.end() == 0)
    }

    @Test(
        "with a display, the first installed program is chosen; otherwise, over SSH, the terminal")
    func route() throws {
        let cases: [([String], [String], ClipboardRoute)] = [
            (["WAYLAND_DISPLAY", "DISPLAY"], ["wl-copy", "xclip"], .tool(.wlCopy)),
            (["WAYLAND_DISPLAY", "DISPLAY"], ["xclip", "xsel"], .tool(.xclip)),
            (["DISPLAY"], ["wl-copy", "xsel"], .tool(.xsel)),
            (["DISPLAY", "SSH_TTY"], ["xclip"], .tool(.xclip)),
            (["DISPLAY", "SSH_CONNECTION"], [], .terminal), (["SSH_TTY"], ["xclip"], .terminal),
        ]
        for (variables, programs, route) in cases {
            let chosen = try chosen(variables, programs)
            #expect(chosen == route, "\(variables) \(programs)")
        }
    }

    @Test("without a clipboard program, the packages to install are named")
    func missing() {
        #expect(throws: ClipboardFailure.notInstalled(["xclip", "xsel"])) {
            try chosen(["DISPLAY"], ["wl-copy"])
        }
        #expect(throws: ClipboardFailure.noDisplay) { try chosen([], ["wl-copy", "xclip"]) }
    }

    /// The route if these variables are set and these programs are installed.
    private func chosen(_ variables: [String], _ programs: [String]) throws -> ClipboardRoute {
        try ClipboardRoute.chosen(
            environment: { variables.contains($0) ? "x" : nil },
            isInstalled: { programs.contains($0) })
    }

    @Test("a digest matches only its content, and two digests of the same content differ")
    func digest() {
        let code = Array("123456".utf8)
        let digest = ContentDigest.of(code.span)
        let answers = [code, Array("123457".utf8), []].map { digest.matches($0.span) }
        #expect(answers == [true, false, false])
        let other = ContentDigest.of(code.span)
        #expect(other.bytes != digest.bytes)
    }

    /// A display on which `tool` works; `nil` if the tool is not installed here.
    private func desktop(for tool: String) throws -> TestDesktop? {
        let isWayland = tool == "wl-copy"
        guard ForeignProgram(tool) != nil, !isWayland || CopyTests.hasWayland else {
            print("skipped: \(tool) is not installed, or there is no display for it")
            return nil
        }
        return try TestDesktop(isWayland: isWayland, tool: tool)
    }

    /// Waits until no process clears a clipboard any more.
    private func waitForHelpers() throws {
        let end = Date(timeIntervalSinceNow: 30)
        while try isHelperRunning() {
            try #require(Date() < end, "watchword-clipboard has not ended")
            Thread.sleep(forTimeInterval: 0.05)
        }
    }

    private func isHelperRunning() throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").contains { name in
            // The process may end in the meantime.
            guard Int(name) != nil,
                let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline")
            else { return false }
            let program = String(decoding: line.prefix { $0 != 0 }, as: UTF8.self)
            return program.hasSuffix("/\(ClipboardClearing.program)")
        }
    }
}

/// An X server without a screen, with a Wayland compositor in it if the tool needs one.
private final class TestDesktop {
    private let folder: TemporaryFolder
    private var processes: [Process] = []
    private let tool: String
    private var environment: [String: String] = [:]

    init(isWayland: Bool, tool: String) throws {
        folder = try TemporaryFolder()
        self.tool = tool
        let output = Pipe()
        // The server chooses a free number and prints it when it is ready.
        try start(
            "Xvfb", ["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"],
            environment: [:], output: output)
        let number = String(
            decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        environment = ["DISPLAY": ":" + number.filter(\.isNumber), "HOME": folder.path]
        guard isWayland else { return }
        // Weston has no seat without the X server's keyboard, and no clipboard without a seat.
        environment["XDG_RUNTIME_DIR"] = folder.path
        try start(
            "weston",
            [
                "--backend=x11-backend.so", "--use-pixman", "--width=300", "--height=200",
                "--socket=wl", "--idle-time=0", "--no-config", "--log=\(folder.file("log"))",
            ], environment: environment, output: Pipe())
        environment = [
            "XDG_RUNTIME_DIR": folder.path, "WAYLAND_DISPLAY": "wl", "HOME": folder.path,
        ]
        try waitForCompositor()
    }

    // SIGKILL, because the threads of a test run block the other signals, and child processes
    // inherit the signal mask.
    deinit { for process in processes { kill(process.processIdentifier, SIGKILL) } }

    /// The assignments before a command of the shell.
    var variables: String {
        environment.filter { $0.key != "HOME" }.map { "\($0)=\($1) " }.joined()
    }

    func content() throws -> String {
        let (program, arguments) =
            switch tool {
            case "xclip": ("xclip", ["-selection", "clipboard", "-out"])
            case "xsel": ("xsel", ["--clipboard", "--output"])
            default: ("wl-paste", ["--no-newline"])
            }
        let reader = try #require(ForeignProgram(program))
        return try reader.run(
            arguments,
            environment: environment.merging(["PATH": "/usr/bin:/bin"]) { own, _ in own }
        ).text
    }

    /// Copies `text` as a different program would.
    func copy(_ text: String) throws {
        let arguments =
            switch tool {
            case "xclip": ["-selection", "clipboard", "-in"]
            case "xsel": ["--clipboard", "--input"]
            default: ["--type", "text/plain"]
            }
        // The tool's background process must not inherit the test's descriptors, because Foundation
        // would wait for that process.
        _ = try ProgramInput.run(
            "/usr/bin/env", environment.map { "\($0)=\($1)" } + [tool] + arguments,
            input: Array(text.utf8).span, environment: ["PATH"], timeout: .seconds(10))
    }

    private func start(
        _ name: String, _ arguments: [String], environment: [String: String], output: Pipe
    ) throws {
        let process = Process()
        process.executableURL = URL(filePath: try #require(ForeignProgram(name)).path)
        process.arguments = arguments
        process.environment = environment.merging(["PATH": "/usr/bin:/bin"]) { own, _ in own }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start()
        processes.append(process)
    }

    /// Waits until clients can connect, and the keyboard is available to them.
    private func waitForCompositor() throws {
        let end = Date(timeIntervalSinceNow: 20)
        while true {
            try copy("ready")
            guard try content() != "ready" else { return }
            try #require(Date() < end, "weston is not ready")
            Thread.sleep(forTimeInterval: 0.1)
        }
    }
}
