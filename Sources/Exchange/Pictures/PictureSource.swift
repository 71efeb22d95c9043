internal import WatchwordSystem

/// A picture that is sent to a reader in chunks.
protocol PictureSource: AnyObject {
    /// The library that the reader must load for this picture; `nil` if it needs none.
    var library: ImageLibrary? { get }

    /// What becomes ready after ``PictureProgress/wouldWait``; `nil` if that never happens.
    var interest: Polling.Interest? { get }

    /// Fills `buffer`, which must be empty and have room for a chunk and two counts.
    ///
    /// - Throws: the reason for refusing the picture, as soon as its content reveals one; in that
    ///   case, `buffer` is empty.
    func nextChunk(into buffer: WipedBuffer) throws(PictureRefusal) -> PictureProgress
}

/// The result of reading the next chunk.
enum PictureProgress: Hashable {
    /// A chunk is in the buffer.
    case chunk
    /// The last chunk and the end marker are in the buffer.
    case end
    /// The file is a pipe with nothing to read yet.
    case wouldWait
}

/// A picture that is in memory.
final class PictureBytes: PictureSource {
    let library: ImageLibrary?
    private let byteCount: Int
    private let lend: PictureLender
    private var position = 0

    init(byteCount: Int, lend: @escaping PictureLender) throws(PictureRefusal) {
        guard byteCount > 0 else { throw .empty }
        guard byteCount <= ReaderProtocol.largestPicture else { throw .tooLarge(.bytes) }
        self.byteCount = byteCount
        self.lend = lend
        var library: ImageLibrary?
        lend { library = ImageLibrary(for: $0) }
        self.library = library
    }

    var interest: Polling.Interest? { nil }

    func nextChunk(into buffer: WipedBuffer) throws(PictureRefusal) -> PictureProgress {
        let end = min(position + ReaderProtocol.largestChunk, byteCount)
        buffer.append(UInt32(end - position).littleEndianBytes)
        lend { bytes in buffer.append(bytes.extracting(position..<end)) }
        position = end
        guard end == byteCount else { return .chunk }
        buffer.append(UInt32(0).littleEndianBytes)
        return .end
    }
}

/// An open picture file.
final class PictureFile: PictureSource {
    let library: ImageLibrary?
    private let file: FileDescriptor
    /// The bytes that were read to find out the format, until they are sent.
    private let beginning: WipedBuffer
    private var count = 0

    /// Takes ownership of a file that can hold a picture, and waits for its first bytes if it is a
    /// pipe.
    ///
    /// - Throws: the refusal of any other file, before a byte is read.
    init(_ file: consuming FileDescriptor) throws(PictureRefusal) {
        switch try PictureFile.kind(of: file) {
        case .file(let size):
            guard size <= ReaderProtocol.largestPicture else { throw .tooLarge(.bytes) }
        case .folder: throw .folder
        case .pipe: break
        case .other: throw .notAFile
        }
        do {
            beginning = try WipedBuffer(capacity: ImageKind.beginningCount)
            while beginning.count < beginning.capacity {
                let progress = try beginning.append { output throws(SystemCallFailure) in
                    try file.readAvailable(into: &output)
                }
                if progress == .ended { break }
                guard progress == .wouldWait else { continue }
                _ = try HelperProcess.wait(for: [.reading(file)], timeout: nil)
            }
        } catch {
            throw .unreadable(error)
        }
        library = beginning.withBytes { ImageLibrary(for: $0) }
        self.file = file
    }

    /// Opens the file at `path`.
    convenience init(path: String) throws(PictureRefusal) {
        let file: FileDescriptor
        do { file = try FileDescriptor(reading: path) } catch { throw .unreadable(error) }
        try self.init(file)
    }

    var interest: Polling.Interest? { .reading(file) }

    func nextChunk(into buffer: WipedBuffer) throws(PictureRefusal) -> PictureProgress {
        // A placeholder until the count is known.
        buffer.append(UInt32(0).littleEndianBytes)
        beginning.withBytes { bytes in buffer.append(bytes) }
        beginning.removeAll()
        let progress = try read(into: buffer)
        let size = buffer.count - 4
        count += size
        guard count <= ReaderProtocol.largestPicture else {
            buffer.removeAll()
            throw .tooLarge(.bytes)
        }
        switch progress {
        case .ended where count == 0:
            buffer.removeAll()
            throw .empty
        case .ended where size == 0:
            return .end  // The count of 0 in the buffer marks the end.
        case .wouldWait where size == 0:
            buffer.removeAll()
            return .wouldWait
        default:
            buffer.replace(from: 0, with: UInt32(size).littleEndianBytes.span)
            guard progress == .ended else { return .chunk }
            buffer.append(UInt32(0).littleEndianBytes)
            return .end
        }
    }

    /// Reads until the chunk is full, the file ends or there is nothing to read yet.
    private func read(into buffer: WipedBuffer) throws(PictureRefusal) -> FileDescriptor.Progress {
        do throws(SystemCallFailure) {
            while buffer.count < ReaderProtocol.largestChunk + 4 {
                let room = ReaderProtocol.largestChunk + 4 - buffer.count
                let progress = try buffer.append(atMost: room) {
                    output throws(SystemCallFailure) in
                    try file.readAvailable(into: &output)
                }
                if progress == .ended || progress == .wouldWait { return progress }
            }
            return .moved(ReaderProtocol.largestChunk)
        } catch {
            buffer.removeAll()
            throw .unreadable(error)
        }
    }

    private static func kind(
        of file: borrowing FileDescriptor
    ) throws(PictureRefusal) -> OpenFileKind {
        do { return try file.kind() } catch { throw .unreadable(error) }
    }
}
