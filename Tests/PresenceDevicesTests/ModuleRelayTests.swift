import POSIX
import Testing

@testable import PresenceDevices

/// Messages between the system's modules and a person who leaves.
struct ModuleRelayTests {
    /// The verdict of modules that send these frames, to a person who has left, and answers as `ask`
    /// does.
    private func verdict(
        _ frames: [ModuleFrame],
        asking ask: (Int, FrameWriter) throws(PAMCheckFailure.Reason) -> Void
    ) throws -> Bool {
        let modules = try SocketPair()
        let person = try SocketPair()
        let bytes = frames.flatMap(\.bytes)
        try modules.second.writeAll(bytes.span)
        let relay = try ModuleRelay(modules.first, until: .now + .seconds(60))
        let left = try person.first.duplicate()
        person.second.shutDown()
        var number = 0
        return try relay.verdict(unless: .reading(left)) { _ throws(PAMCheckFailure.Reason) in
            throw .cancelled
        } asking: { _, _, answer throws(PAMCheckFailure.Reason) in
            number += 1
            try ask(number, answer)
        }
    }

    @Test("a person who leaves after an answer does not end the check, and answers nothing more")
    func answered() throws {
        let frames: [ModuleFrame] = [
            .ready(version: ModuleFrame.version), .asks("Password: ", isEchoed: false),
            .says("Wrong", isError: true), .asks("Again: ", isEchoed: false), .verdict(.denied),
        ]
        let isPresent = try verdict(frames) { number, _ throws(PAMCheckFailure.Reason) in
            if number > 1 { throw .cancelled }
        }
        #expect(!isPresent)
    }

    @Test("a person who leaves before the first answer ends the check")
    func unanswered() throws {
        let frames: [ModuleFrame] = [
            .ready(version: ModuleFrame.version), .asks("Password: ", isEchoed: false),
            .verdict(.denied),
        ]
        #expect(throws: PAMCheckFailure.Reason.cancelled) {
            try verdict(frames) { _, _ throws(PAMCheckFailure.Reason) in throw .cancelled }
        }
    }
}
