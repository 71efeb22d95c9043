internal import SecretVault
package import WatchwordSystem

/// A code that somebody presents, and the window in which it is accepted.
package struct CodeComparison: Sendable {
    package let code: String
    /// The time of a time-based code in Unix seconds; `nil` compares with the entry's counter.
    package let moment: Int64?
    package let behind: Int
    package let ahead: Int

    package init(code: String, moment: Int64?, behind: Int, ahead: Int) {
        self.code = code
        self.moment = moment
        self.behind = behind
        self.ahead = ahead
    }

    /// The widest window.
    package static let widest = 10_000
    /// How many codes of a counter after the next one are compared without a further proof of what
    /// opens the vault; as many as `verify` compares by default.
    package static let widestAhead = 10
}

extension CodeComparison: Transferable {
    package func write(to output: FrameWriter) {
        output.append(code)
        output.append(moment != nil)
        if let moment { output.append(signed: moment) }
        output.append(UInt64(behind))
        output.append(UInt64(ahead))
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let code: String = try fields.value(bytes)
        let moment = try fields.flag(bytes) ? try fields.signedNumber(bytes) : nil
        let (behind, ahead) = (try fields.integer(bytes), try fields.integer(bytes))
        guard (0...CodeComparison.widest).contains(behind),
            (0...CodeComparison.widest).contains(ahead)
        else { throw FieldReader.Unreadable() }
        self.init(code: code, moment: moment, behind: behind, ahead: ahead)
    }
}
