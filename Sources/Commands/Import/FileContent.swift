import Cryptography
import POSIX

/// A file's type, detected from its first bytes; its name is ignored.
enum FileContent {
    /// Text, for ``wholeText(at:)`` to read.
    case text
    /// An image or another binary file, for the sandboxed reader to identify.
    case picture

    private static let headCount = 512
    /// Enough for more otpauth URIs than any vault holds.
    private static let textLimit = 16 << 20

    /// Detects the type of the file at `path`.
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

    // A byte order mark, or a zero byte beside each character; no image format begins like this.
    private static func isUTF16(_ head: Span<UInt8>) -> Bool {
        guard head.count >= 4 else { return false }
        switch (head[0], head[1]) {
        case (0xFF, 0xFE), (0xFE, 0xFF): return true
        case (0x20..., 0): return head[2] >= 0x20 && head[3] == 0
        case (0, 0x20...): return head[2] == 0 && head[3] >= 0x20
        default: return false
        }
    }

    // Every image file has a control character near its beginning, which text does not: even the
    // formats that begin with letters (GIF, RIFF) have one in a size or header field. JPEG files
    // are also recognised by their first two bytes.
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
