import Pictures
import WatchwordCryptography
import WatchwordSystem

/// A file's type, detected from its first bytes; its name is ignored.
enum FileContent {
    /// Text, for ``whole(at:)`` to read.
    case text
    /// An image or another binary file, for the confined reader to identify.
    case picture

    private static let headCount = 512

    /// Detects the type of the file at `path`.
    static func of(_ path: String) throws(FileError) -> FileContent {
        let file = try InputFile(path, acceptingPipes: false)
        guard let size = file.size, size > 0 else { throw .empty }
        return try of(try read(file, atMost: ImageKind.beginningCount))
    }

    /// Detects the type of content that has already been read.
    static func of(_ content: SecretBytes) throws(FileError) -> FileContent {
        try content.withBytes { bytes throws(FileError) in
            let head = bytes.extracting(first: headCount)
            guard !isUTF16(head) else { throw .utf16 }
            // Some image formats are text.
            if ImageKind(of: bytes) != .unknown { return .picture }
            return isText(head) ? .text : .picture
        }
    }

    /// Reads the file or pipe at `path`.
    static func whole(at path: String, limit: Int) throws(FileError) -> SecretBytes {
        let file = try InputFile(path, acceptingPipes: true)
        guard let size = file.size else { return try wholePipe(file, limit: limit) }
        guard size > 0 else { throw .empty }
        guard size <= limit else { throw .tooLarge(limit: limit) }
        return try read(file, atMost: size)
    }

    /// Reads a pipe, with a buffer that grows, because the whole buffer is wiped.
    private static func wholePipe(
        _ file: borrowing InputFile, limit: Int
    ) throws(FileError) -> SecretBytes {
        var capacity = 1 << 16
        var content = try read(file, atMost: capacity)
        while content.count == capacity, capacity <= limit {
            capacity = min(capacity * 8, limit + 1)
            let start = content
            content = try fill(capacity: capacity) { output throws(SystemCallFailure) in
                start.withBytes { output.append(copying: $0) }
                try file.descriptor.readToEnd(into: &output)
            }
        }
        guard content.count > 0 else { throw .empty }
        guard content.count <= limit else { throw .tooLarge(limit: limit) }
        return content
    }

    private static func read(_ file: borrowing InputFile, atMost count: Int)
        throws(FileError) -> SecretBytes
    {
        try fill(capacity: count) { output throws(SystemCallFailure) in
            try file.descriptor.readToEnd(into: &output)
        }
    }

    private static func fill(
        capacity: Int, _ body: (inout OutputSpan<UInt8>) throws(SystemCallFailure) -> Void
    ) throws(FileError) -> SecretBytes {
        do {
            return try SecretBytes(capacity: capacity, initializingWith: body)
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

    // Every other image file has a control character near its beginning, which text does not: even the
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
