import WatchwordCryptography
import WatchwordSystem

/// The source of a secret; a secret is never a command-line argument.
enum SecretSource: Hashable, Sendable {
    case standardInput
    case file(String)

    /// The file that an option specifies; `-` is standard input.
    init(_ path: String) { self = path == "-" ? .standardInput : .file(path) }

    /// The source's name in messages.
    var name: String {
        switch self {
        case .standardInput: "standard input"
        case .file(let path): VisibleText.of(path)
        }
    }

    /// Reads everything: at least one byte, and at most `limit`.
    func read(limit: Int) throws -> SecretBytes {
        try CommandFailure.naming(visible: name) {
            let bytes = try readAll(limit: limit)
            try SecretSource.check(bytes, limit: limit)
            return bytes
        }
    }

    /// Reads the first line, without its line break; from standard input, consumes nothing after
    /// it.
    func readFirstLine(limit: Int) throws -> SecretBytes {
        guard case .standardInput = self else { return try read(limit: limit).firstLine() }
        return try CommandFailure.naming(visible: name) {
            let line = try SecretSource.read(capacity: limit + 1) {
                (output) throws(SystemCallFailure) in
                try StandardStream.input.readLine(into: &output)
            }
            try SecretSource.check(line, limit: limit)
            return line.firstLine()
        }
    }

    private static func check(_ bytes: SecretBytes, limit: Int) throws {
        guard bytes.count > 0 else { throw FileError.empty }
        guard bytes.count <= limit else { throw FileError.tooLarge(limit: limit) }
    }

    private func readAll(limit: Int) throws(FileError) -> SecretBytes {
        switch self {
        case .standardInput:
            return try SecretSource.readWhole(capacity: limit + 1) {
                (output) throws(SystemCallFailure) in
                while try StandardStream.input.read(into: &output) > 0 {}
            }
        case .file(let path):
            let file = try InputFile(path, acceptingPipes: true)
            if let size = file.size, size > limit { throw .tooLarge(limit: limit) }
            // Read up to one byte more than the limit: a file may grow, and some files report a
            // size of 0.
            return try SecretSource.readWhole(capacity: limit + 1) {
                (output) throws(SystemCallFailure) in
                try file.descriptor.readToEnd(into: &output)
            }
        }
    }

    /// Large enough for nearly every secret, but small, because the whole buffer is locked in
    /// memory and wiped.
    private static let typicalCapacity = 1 << 10

    /// Reads with `fill`; if the usual capacity is not enough, continues with a larger buffer.
    private static func readWhole(
        capacity: Int, _ fill: (inout OutputSpan<UInt8>) throws(SystemCallFailure) -> Void
    ) throws(FileError) -> SecretBytes {
        let start = try read(capacity: min(capacity, typicalCapacity), fill)
        guard start.count == typicalCapacity, capacity > typicalCapacity else { return start }
        return try read(capacity: capacity) { (output) throws(SystemCallFailure) in
            start.withBytes { output.append(copying: $0) }
            try fill(&output)
        }
    }

    private static func read(
        capacity: Int, _ fill: (inout OutputSpan<UInt8>) throws(SystemCallFailure) -> Void
    ) throws(FileError) -> SecretBytes {
        do {
            return try SecretBytes(capacity: capacity, initializingWith: fill)
        } catch {
            throw error.isDirectory ? .folder : .system(error)
        }
    }
}

extension SecretBytes {
    /// Everything except one final line break.
    func withoutLastLineEnd() -> SecretBytes {
        withBytes { bytes in
            var end = bytes.count
            if end > 0, bytes[end - 1] == UInt8(ascii: "\n") {
                end -= 1
                if end > 0, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
            }
            return SecretBytes(copying: bytes.extracting(0..<end))
        }
    }
}
