import Foundation
import TestSupport
import Testing

/// Screenshots through `watchword-screenshot`, with a desktop portal that belongs to the test.
@Suite(.serialized, .enabled(if: PrivateBus.isPossible, PrivateBus.requirement))
struct ScreenshotTests {
    /// A user without privileges, for a test that runs as root: root can read every process.
    private static let user = "irc"

    /// Runs shell commands while the portal runs with this argument, and returns their output.
    private func run(_ commands: String, portal argument: String) throws -> String {
        let folder = try TemporaryFolder()
        let bus = PrivateBus(in: folder)
        try bus.start()
        let portal = PackageFolder.root.appending(path: "Tests/DesktopPortal/desktop_portal.py")
        try folder.write([UInt8](Data(contentsOf: portal)), to: "portal.py")
        // The test's threads block the other signals, and the programs that they start inherit the
        // mask.
        let script = """
            cd '\(folder.path)'
            /usr/bin/python3 portal.py \(argument) >/dev/null 2>&1 &
            trap "kill -KILL $!" EXIT
            \(PrivateBus.waiting(bus.hasService(Self.service)))
            \(commands)
            """
        var command = ["/bin/sh", "-c", script]
        if geteuid() == 0 {
            let chown = try ForeignProgram(path: "/usr/bin/chown").run([Self.user, folder.path])
            #expect(chown.status == 0)
            command = ["setpriv", "--reuid", Self.user, "--clear-groups", "--"] + command
        }
        let outcome = try ForeignProgram(path: "/usr/bin/env").run(
            command,
            environment: ["PATH": "/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS": bus.address])
        #expect(outcome.status == 0, "\(String(decoding: outcome.errors, as: UTF8.self))")
        return outcome.text
    }

    private static let service = "org.freedesktop.portal.Desktop"
    private static let program = "'\(BuiltProgram.path("watchword-screenshot"))' </dev/null"

    @Test("memory: the program that copies the picture is confined, and cannot be read")
    func confinement() throws {
        // The pipe is full before the whole image is copied.
        let printed = try run(
            """
            head -c 300000 /dev/urandom >'the picture'; cp 'the picture' expected
            mkfifo pipe; exec 3<>pipe
            \(Self.program) >pipe 3<&- &
            timeout 60 head -c 1 <&3 >copied
            grep -E '^(Seccomp|NoNewPrivs):' /proc/$!/status
            [ -e /proc/$!/root/ ] && echo readable
            [ -e 'the picture' ] && echo kept
            timeout 60 head -c 299999 <&3 >>copied
            cmp copied expected && echo same
            wait $!; echo "status $?"
            """, portal: "\"$PWD/the%20picture\"")
        #expect(printed == "NoNewPrivs:\t1\nSeccomp:\t2\nsame\nstatus 0\n")
    }

    @Test("a screenshot that the user refuses is reported")
    func refusal() throws {
        #expect(try run("\(Self.program); echo \" $?\"", portal: "") == "refused 6\n")
    }
}
