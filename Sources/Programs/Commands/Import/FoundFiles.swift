import Pictures
import WatchwordCryptography
import WatchwordSystem

/// The files at the given paths, including those in folders, recursively.
struct PathWalk {
    /// An item found during the walk.
    enum Found: Hashable, Sendable {
        case file(String)
        /// A pipe among the given paths; it can be read only once.
        case pipe(String)
        case refused(String, FileError)
        /// A symbolic link in a folder; it can point anywhere, so it is not followed.
        case symbolicLink(String)
    }

    /// The maximum depth, so that a walk always ends.
    private static let depthLimit = 64

    /// Standard input as a path; it can be a file or a pipe.
    static let standardInput = "/dev/stdin"

    /// The path that an operand means; `-` is standard input.
    static func path(of operand: String) -> String { operand == "-" ? standardInput : operand }

    private(set) var found: [Found] = []

    /// Walks `paths` in the given order, and the contents of each folder sorted by name.
    ///
    /// Symbolic links in `paths` are followed; hidden files in folders are skipped.
    init(_ paths: [String]) {
        for path in paths { visit(path, depth: 0) }
    }

    private mutating func visit(_ path: String, depth: Int) {
        do {
            switch try FileKind(at: path, following: depth == 0) {
            case .file: found.append(.file(path))
            case .symbolicLink: found.append(.symbolicLink(path))
            case .pipe where depth == 0: found.append(.pipe(path))
            case .pipe, .other: found.append(.refused(path, .notAFile))
            case .folder:
                guard depth < PathWalk.depthLimit else {
                    found.append(.refused(path, .tooDeep))
                    return
                }
                let start = path.hasSuffix("/") ? path : path + "/"
                for name in try Folder.names(at: path) where !name.hasPrefix(".") {
                    visit(start + name, depth: depth + 1)
                }
            }
        } catch {
            // The folder has just listed this name; if the file is now missing, the name was not
            // UTF-8.
            let isAltered = error.isMissing && path.unicodeScalars.contains("\u{FFFD}")
            found.append(.refused(path, isAltered ? .nameNotUTF8 : FileError(reading: error)))
        }
    }
}

/// A file's type, detected from its first bytes; the name is ignored.
enum FileContent {
    /// Text, for ``whole(at:)`` to read.
    case text
    /// An image or any other binary file, for the confined reader to identify.
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

    /// Reads the file or pipe at `path`; `nil` if that fails.
    static func readable(at path: String, limit: Int) -> SecretBytes? {
        do { return try whole(at: path, limit: limit) } catch { return nil }
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

    // Every other image file has a control character near its beginning, which text does not: even
    // the formats that begin with letters (GIF, RIFF) have one in a size or header field. JPEG
    // files are also recognised by their first two bytes.
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

/// The contents of files: images are read in one run of the sandboxed reader, and texts are only
/// recognised.
struct PictureTexts {
    enum Content {
        /// A text, which is read later, so that the memory need not hold many large texts at once.
        case text
        case refused(FileError)
        case symbols([SecretBytes])
        case noSymbols(PictureRefusal)
    }

    private var contents: [Int: Content] = [:]

    /// Reads every file in `found`.
    ///
    /// - Parameter readsPipes: Whether pipes are also read, as images.
    init(of found: [PathWalk.Found], readsPipes: Bool, progress: (Int, Int) -> Void) throws {
        var pictures: [(index: Int, path: String)] = []
        for (index, item) in found.enumerated() {
            switch item {
            case .file(let path):
                do {
                    switch try FileContent.of(path) {
                    case .text: contents[index] = .text
                    case .picture: pictures.append((index, path))
                    }
                } catch {
                    contents[index] = .refused(error)
                }
            case .pipe(let path) where readsPipes: pictures.append((index, path))
            case .pipe, .refused, .symbolicLink: break
            }
        }
        try read(pictures, progress: progress)
    }

    /// The content of the file at position `index` of the walk.
    func content(at index: Int) -> Content { contents[index] ?? .refused(.missing) }

    private mutating func read(
        _ pictures: [(index: Int, path: String)], progress: (Int, Int) -> Void
    ) throws {
        guard !pictures.isEmpty else { return }
        var symbols: [SecretBytes] = []
        var read: [Int: Content] = [:]
        try CommandFailure.naming("watchword-reader") {
            try ReaderPool().read(pictures.map(\.path)) { _, bytes in
                symbols.append(SecretBytes(copying: bytes))
            } finished: { position, outcome in
                switch outcome {
                case .symbols: read[pictures[position].index] = .symbols(symbols)
                case .refused(let refusal): read[pictures[position].index] = .noSymbols(refusal)
                }
                symbols = []
                progress(position + 1, pictures.count)
            }
        }
        contents.merge(read) { _, new in new }
    }
}
