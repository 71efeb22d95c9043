package import WatchwordSystem

/// The property that every message between the processes must have.
package enum MessageForm {
    /// A message that does not have the property.
    package struct Violation: Error, CustomStringConvertible {
        package let description: String
    }

    package static func bytes(of message: some Transferable) throws -> [UInt8] {
        let frame = try FrameWriter()
        frame.append(message)
        try frame.requireWhole()
        return frame.withContent { content in content.indices.map { content[$0] } }
    }

    /// The value that fills `bytes`; `nil` if they are refused.
    package static func read<Message: Transferable>(
        _ bytes: [UInt8], as type: Message.Type = Message.self
    ) -> Message? {
        do { return try Message(parsing: bytes.span) } catch { return nil }
    }

    /// Checks that each message is read as it was sent, and that nothing else is.
    ///
    /// - Parameter kinds: the first byte of the messages; each kind with fields needs a message.
    package static func check<Message: Transferable, Kind: RawRepresentable>(
        _ messages: [Message], of kinds: [Kind]
    ) throws where Kind.RawValue == UInt8 {
        for message in messages { try check(message) }
        let sent = try Set(messages.map { try bytes(of: $0)[0] })
        for kind in kinds where !sent.contains(kind.rawValue) {
            guard let plain = read([kind.rawValue], as: Message.self) else {
                throw Violation(description: "there is no message of the kind \(kind)")
            }
            try check(plain)
        }
    }

    /// Checks that a message is read as it was sent, and that nothing else is.
    ///
    /// Each byte is removed and changed, and one is added; what is read then is written as the same
    /// bytes again. In a message over 1 KiB, only some positions are tried.
    ///
    /// - Parameter hasOneForm: whether a value is always written as the bytes that were read.
    package static func check<Message: Transferable>(
        _ message: Message, hasOneForm: Bool = true
    ) throws {
        let sent = try bytes(of: message)
        guard let received = read(sent, as: Message.self), try bytes(of: received) == sent else {
            throw Violation(description: "\(message) is not read as it was sent")
        }
        if let message = message as? any Equatable, !isEqual(message, received) {
            throw Violation(description: "\(message) is read as \(received)")
        }
        guard read(sent + [0], as: Message.self) == nil else {
            throw Violation(description: "\(message) is read from one byte more")
        }
        let step = sent.count > 1024 ? sent.count / 32 : 1
        for index in stride(from: 0, to: sent.count, by: step) {
            guard read(Array(sent[..<index]), as: Message.self) == nil else {
                throw Violation(description: "\(message) is read from \(index) bytes")
            }
            for change in [1, 2, 0x80, 0xff] as [UInt8] {
                var changed = sent
                changed[index] ^= change
                guard let other = read(changed, as: Message.self), hasOneForm else { continue }
                guard try bytes(of: other) == changed else {
                    throw Violation(
                        description: "\(message) with another byte at \(index) has two forms")
                }
            }
        }
    }

    private static func isEqual<Value: Equatable>(_ value: Value, _ other: Any) -> Bool {
        value == other as? Value
    }
}
