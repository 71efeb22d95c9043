import Cryptography
import POSIX

/// What a file is, by its first bytes; its name says nothing.
enum FileContent {
    /// Text, for ``wholeText(at:)`` to read.
    case text
    /// A picture, or something else that is no text: for the confined reader to tell.
    case picture

    private static let headCount = 512
    /// A text with more otpauth lines than any vault holds.
    private static let textLimit = 16 << 20

    /// Looks into the file at `path`.
    static func of(_ path: String) throws(InputFileError) -> FileContent {
        let file = try InputFile(path, acceptingPipes: false)
        guard let size = file.size, size > 0 else { throw .empty }
        let head = try read(file, atMost: headCount)
        guard !head.withBytes(isUTF16) else { throw .utf16 }
        return head.withBytes(isText) ? .text : .picture
    }

    /// Reads the text at `path`.
    static func wholeText(at path: String) throws(InputFileError) -> SecretBytes {
        let file = try InputFile(path, acceptingPipes: false)
        guard let size = file.size, size > 0 else { throw .empty }
        guard size <= textLimit else { throw .tooLarge(limit: textLimit) }
        return try read(file, atMost: size)
    }

    private static func read(_ file: borrowing InputFile, atMost count: Int)
        throws(InputFileError) -> SecretBytes
    {
        do {
            return try SecretBytes(capacity: count) { (output) throws(SystemCallFailure) in
                try file.descriptor.readToEnd(into: &output)
            }
        } catch {
            throw .system(error)
        }
    }

    // A mark at the beginning, or letters with a zero beside each; no picture begins so.
    private static func isUTF16(_ head: Span<UInt8>) -> Bool {
        guard head.count >= 4 else { return false }
        switch (head[0], head[1]) {
        case (0xFF, 0xFE), (0xFE, 0xFF): return true
        case (0x20..., 0): return head[2] >= 0x20 && head[3] == 0
        case (0, 0x20...): return head[2] == 0 && head[3] >= 0x20
        default: return false
        }
    }

    // Every kind of picture has a byte in its head that no text has: a control character, or, for the
    // two that begin with letters alone (GIF, RIFF), what their sizes and headers bring.
    private static func isText(_ head: Span<UInt8>) -> Bool {
        for index in head.indices {
            switch head[index] {
            case 0x09, 0x0A, 0x0C, 0x0D: continue
            case 0x00...0x1F, 0x7F: return false
            default: continue
            }
        }
        return head.count < 4 || !(head[0] == 0xFF && head[1] == 0xD8)
    }
}
