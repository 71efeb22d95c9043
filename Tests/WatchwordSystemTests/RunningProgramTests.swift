import Glibc
import TestSupport
import Testing

@testable import WatchwordSystem

struct RunningProgramTests {
    @Test("paths are divided at each slash, whatever follows it")
    func folders() {
        #expect(RunningProgram.folder(of: "/usr/bin/watchword") == "/usr/bin")
        #expect(RunningProgram.folder(of: "/watchword") == "")
        #expect(RunningProgram.folder(of: "watchword") == nil)
        // A combining accent joins the character before it.
        #expect(RunningProgram.folder(of: "/opt/é/\u{301}x") == "/opt/é")
        #expect(RunningProgram.folder(of: "/opt/\u{301}/x") == "/opt/\u{301}")
    }

    @Test("only the absolute folders of PATH count, whatever their names")
    func searchPath() {
        let list = "/bin:.:relative:/\u{301}a::/é/b:\u{301}:/c"
        #expect(RunningProgram.folders(in: list) == ["/bin", "/\u{301}a", "/é/b", "/c"])
        #expect(RunningProgram.folders(in: "").isEmpty)
    }

    @Test(
        "root acts as a folder's owner, without root's groups, and then as root again",
        .enabled(if: geteuid() == 0, "only root can become another user"))
    func owner() async throws {
        // In a separate process, because all threads change.
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            try #require(unsafe chown(folder.path, 4_242, 4_243) == 0)
            let before = [geteuid(), getegid()]
            let owner = try CurrentProcess.asOwner(of: folder.path) {
                [geteuid(), getegid(), UInt32(getgroups(0, nil))]
            }
            #expect(owner == [4_242, 4_243, 0] && [geteuid(), getegid()] == before)
            withExtendedLifetime(folder) {}
        }
    }
}
