import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import Devices

/// Messages between the system's modules and a person who leaves.
struct ModuleRelayTests {
    /// The verdict of modules that send these frames, to a person who has left, and answers as
    /// `ask` does.
    private func verdict(
        _ frames: [ModuleFrame],
        asking ask: (Int, Moment) throws(PAMCheckFailure) -> Void
    ) throws -> Bool {
        let modules = try SocketPair()
        let person = try SocketPair()
        for frame in frames { try FrameWriter(frame).write(to: modules.second) }
        let relay = try ModuleRelay(modules.first, until: .now + .seconds(60))
        let left = try person.first.duplicate()
        person.second.shutDown()
        var number = 0
        return try relay.verdict(unless: .reading(left)) { _ throws(PAMCheckFailure) in
            throw PAMCheckFailure(.cancelled)
        } asking: { _, _, lastAnswer throws(PAMCheckFailure) in
            number += 1
            try ask(number, lastAnswer)
            return SecretBytes(text: "answer")
        }
    }

    private static func failed(_ code: Int32) -> PAMCallFailure {
        PAMCallFailure(call: .authenticate, code: code)
    }

    @Test("each frame decodes unchanged, and other bytes are refused")
    func frames() throws {
        var reasons: [PAMCheckFailure.Reason] = [.noServiceFile, .noUserName]
        for call in PAMCallFailure.Call.allCases {
            let failure = PAMCallFailure(call: call, code: 7)
            reasons += [.accountRefused(failure), .failed(failure)]
        }
        let verdicts = [.granted, .denied] + reasons.map(ModuleVerdict.failed)
        var frames: [ModuleFrame] = [.ready(version: ModuleFrame.version)]
        for isTrue in [false, true] {
            frames += [.says("é\n", isError: isTrue), .asks("", isEchoed: isTrue)]
        }
        for frame in frames + verdicts.map(ModuleFrame.verdict) { try MessageForm.check(frame) }
        let longest = 3 * ModuleFrame.longestText
        for (count, isRead) in [(longest, true), (longest + 1, false)] {
            let text = ModuleFrame.says(String(repeating: "x", count: count), isError: false)
            let bytes = try MessageForm.bytes(of: text)
            #expect((MessageForm.read(bytes, as: ModuleFrame.self) != nil) == isRead)
        }
    }

    @Test("every answer up to the maximum length decodes unchanged")
    func answers() throws {
        func received(_ text: String) throws -> String? {
            let bytes = try MessageForm.bytes(of: SecretBytes(text: text))
            let frame = try WipedBuffer(capacity: bytes.count)
            frame.append(bytes)
            return ModuleAnswer(parsing: frame)?.withBytes {
                String(decoding: [UInt8](copying: $0), as: UTF8.self)
            }
        }
        let longest = String(repeating: "a", count: ModuleFrame.longestAnswer)
        for text in ["", "é", longest] { #expect(try received(text) == text) }
        #expect(try received(longest + "a") == nil)
    }

    @Test(
        "after an answer, modules that fail count as refusing, unless one cannot run at all",
        arguments: [3, 9, 12, 19, 26, 28])
    func failing(code: Int32) throws {
        let question = ModuleFrame.asks("Password: ", isEchoed: false)
        let failure = Self.failed(code)
        let frames: [ModuleFrame] = [
            .ready(version: ModuleFrame.version), question, .verdict(.failed(.failed(failure))),
        ]
        func outcome(_ frames: [ModuleFrame]) throws -> Bool {
            try verdict(frames) { _, _ in }
        }
        if failure.cause == .moduleNotLoaded {
            #expect(throws: PAMCheckFailure(.failed(failure))) { try outcome(frames) }
        } else {
            #expect(try !outcome(frames))
        }
        // The question was not answered.
        #expect(throws: PAMCheckFailure.self) {
            try verdict([frames[0], frames[2]]) { _, _ in }
        }
        // The account is locked, and the person was recognised.
        #expect(throws: PAMCheckFailure(.accountRefused(failure))) {
            try outcome([frames[0], question, .verdict(.failed(.accountRefused(failure)))])
        }
    }

    @Test("even the first answer must leave the modules time to decide")
    func lastAnswer() throws {
        let frames: [ModuleFrame] = [
            .ready(version: ModuleFrame.version), .asks("Password: ", isEchoed: false),
            .verdict(.denied),
        ]
        var left: [Duration] = []
        _ = try verdict(frames) { _, lastAnswer in
            left.append(lastAnswer.timeRemaining)
        }
        #expect(left.count == 1 && left.allSatisfy { $0 > .seconds(30) && $0 <= .seconds(55) })
    }

    @Test(
        "a person who leaves after an answer does not end the check, which gets no further answers")
    func answered() throws {
        let frames: [ModuleFrame] = [
            .ready(version: ModuleFrame.version), .asks("Password: ", isEchoed: false),
            .says("Wrong", isError: true), .asks("Again: ", isEchoed: false), .verdict(.denied),
        ]
        let isPresent = try verdict(frames) { number, _ throws(PAMCheckFailure) in
            if number > 1 { throw PAMCheckFailure(.cancelled) }
        }
        #expect(!isPresent)
    }

    @Test("a person who leaves before the first answer ends the check")
    func unanswered() throws {
        let frames: [ModuleFrame] = [
            .ready(version: ModuleFrame.version), .asks("Password: ", isEchoed: false),
            .verdict(.denied),
        ]
        #expect(throws: PAMCheckFailure(.cancelled)) {
            try verdict(frames) { _, _ throws(PAMCheckFailure) in throw PAMCheckFailure(.cancelled)
            }
        }
    }
}
