package import WatchwordSystem

/// The fingers of a user that are enrolled with the machine's fingerprint readers, by name.
package struct EnrolledFingers: Hashable, Sendable {
    /// The names, sorted and separated by commas; a name occurs once for each reader.
    package let text: String

    package static let longestText = 64 * (longestName + 1)
    private static let longestName = 32

    /// - Parameter names: as fprintd spells them, such as `right-index-finger`.
    package init?(_ names: [Substring]) {
        let areValid = names.allSatisfy { name in
            (1...Self.longestName).contains(name.utf8.count)
                && name.utf8.allSatisfy {
                    $0 == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                }
        }
        let text = names.sorted().joined(separator: ",")
        guard areValid, text.utf8.count <= Self.longestText else { return nil }
        self.text = text
    }

    /// The fingers that have this ``text``.
    package init?(text: String) {
        self.init(text.split(separator: ",", omittingEmptySubsequences: text.isEmpty))
        guard self.text == text else { return nil }
    }
}

extension EnrolledFingers: Transferable {
    package func write(to output: FrameWriter) { output.append(text) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let text = try fields.text(bytes, limit: Self.longestText)
        guard let fingers = EnrolledFingers(text: text) else { throw Unreadable() }
        self = fingers
    }
}
