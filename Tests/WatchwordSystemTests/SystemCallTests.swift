import Glibc
import Testing

@testable import WatchwordSystem

@Suite struct SystemCallTests {
    @Test(
        "a failed call throws its name and error number, and a successful call returns its result")
    func failing() throws {
        #expect(throws: SystemCallFailure(call: "open", number: ENOENT)) {
            try call("open") { unsafe open("/nonexistent", O_RDONLY) }
        }
        #expect(throws: SystemCallFailure(call: "posix_spawn", number: EAGAIN)) {
            try callReturningErrorNumber("posix_spawn") { EAGAIN }
        }
        #expect(try call("getppid") { getppid() } == getppid())
        try callReturningErrorNumber("posix_spawn") { 0 }
    }

    @Test("an interrupted call is repeated only on request", arguments: [false, true])
    func interrupted(retrying: Bool) throws {
        var results: [Int32] = [7, -1, -1]
        let interrupted = { () -> Int32 in
            let result = results.removeLast()
            errno = EINTR
            return result
        }
        if retrying {
            #expect(try call("read", retrying: true, interrupted) == 7)
        } else {
            #expect(throws: SystemCallFailure(call: "read", number: EINTR)) {
                try call("read", interrupted)
            }
        }
    }

    @Test("an expected failure becomes nil, and any other failure is thrown")
    func expected() throws {
        let path = "/nonexistent"
        let found = try SystemCallFailure.nilIf(\.isMissing, FileKind(at: path, following: true))
        #expect(found == nil)
        #expect(throws: SystemCallFailure(call: "stat", number: ENOENT)) {
            try SystemCallFailure.nilIf(
                \.isPermissionDenied, FileKind(at: path, following: true))
        }
    }
}
