package import Devices
internal import SecretVault
package import WatchwordSystem

// Why a TPM did not do what a device key needs.

extension TokenHelper.Failure: Transferable {
    private enum Kind: UInt8 {
        case helper, timedOut, badAnswer, refused
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .helper(let failure):
            output.append(choice: Kind.helper)
            output.append(failure)
        case .timedOut: output.append(choice: Kind.timedOut)
        case .badAnswer: output.append(choice: Kind.badAnswer)
        case .refused(let refusal):
            output.append(choice: Kind.refused)
            output.append(refusal)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .helper: self = .helper(try fields.value(bytes))
        case .timedOut: self = .timedOut
        case .badAnswer: self = .badAnswer
        case .refused: self = .refused(try fields.value(bytes))
        }
    }
}

extension TokenRefusal: Transferable {
    // As the helper process sends it.
    package func write(to output: FrameWriter) { output.append(string: bytes.span) }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let range = try fields.string(bytes, limit: TokenRefusal.longest)
        try self.init(parsing: bytes.extracting(range))
    }

    /// The maximum size of the encoding in bytes: a kind, a number, and a short word.
    private static let longest = 6 + Int(UInt8.max)
}
