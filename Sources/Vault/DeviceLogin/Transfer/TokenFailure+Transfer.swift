package import Devices
package import WatchwordSystem

// Why a TPM did not do what a device key needs.

extension TokenHelper.Failure: Transferable {
    private enum Kind: UInt8, Transferable {
        case helper, timedOut, badAnswer, refused
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .helper(let failure): output.append(Kind.helper, failure)
        case .timedOut: output.append(Kind.timedOut)
        case .badAnswer: output.append(Kind.badAnswer)
        case .refused(let refusal): output.append(Kind.refused, refusal)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .helper: try fields.make(Self.helper, from: bytes)
            case .timedOut: .timedOut
            case .badAnswer: .badAnswer
            case .refused: try fields.make(Self.refused, from: bytes)
            }
    }
}

extension TokenRefusal: Transferable {
    // As the helper process sends it.
    package func write(to output: FrameWriter) { output.append(string: bytes.span) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let range = try fields.string(bytes, limit: TokenRefusal.longest)
        try self.init(parsing: bytes.extracting(range))
    }

    /// The maximum size of the encoding in bytes: a kind, a number, and a short word.
    private static let longest = 6 + Int(UInt8.max)
}
