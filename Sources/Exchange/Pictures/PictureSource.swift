internal import WatchwordSystem

/// An image that is sent to a reader in chunks.
protocol PictureSource: AnyObject {
    /// The library that the reader must load for this image; `nil` if it needs none.
    var library: ImageLibrary? { get }

    /// The descriptor to wait for after ``PictureProgress/wouldWait``; `nil` if the source never
    /// has to wait.
    var interest: Polling.Interest? { get }

    /// Fills `buffer`, which must be empty and have room for a chunk and two counts.
    func nextChunk(into buffer: WipedBuffer) -> PictureProgress
}

/// The result of reading the next chunk.
enum PictureProgress: Hashable {
    /// A chunk is in the buffer.
    case chunk
    /// The last chunk and the end marker are in the buffer.
    case end
    /// The file is a pipe with nothing to read yet.
    case wouldWait
    /// The content reveals that it cannot be read; the buffer is empty.
    case refused(PictureRefusal)
}

/// An image to be read, or why it cannot be.
enum OpenPicture {
    case source(any PictureSource)
    case refused(PictureRefusal)

    /// An image that is in memory.
    init(byteCount: Int, lend: @escaping PictureLender) {
        if byteCount == 0 {
            self = .refused(.empty)
        } else if byteCount > ReaderProtocol.largestPicture {
            self = .refused(.tooLarge(.bytes))
        } else {
            self = .source(PictureBytes(byteCount: byteCount, lend: lend))
        }
    }

    /// An open file.
    ///
    /// A file that cannot hold an image is refused before a byte is read.
    init(_ file: consuming FileDescriptor) {
        do throws(SystemCallFailure) {
            switch try file.kind() {
            case .file(let size) where size > ReaderProtocol.largestPicture:
                self = .refused(.tooLarge(.bytes))
            case .file, .pipe: self = .source(try PictureFile(file))
            case .folder: self = .refused(.folder)
            case .other: self = .refused(.notAFile)
            }
        } catch {
            self = .refused(.unreadable(error))
        }
    }

    /// The file at `path`.
    init(path: String) {
        do throws(SystemCallFailure) {
            self.init(try FileDescriptor(reading: path))
        } catch {
            self = .refused(.unreadable(error))
        }
    }
}

/// An image that is in memory.
final class PictureBytes: PictureSource {
    let library: ImageLibrary?
    private let byteCount: Int
    private let lend: PictureLender
    private var position = 0

    init(byteCount: Int, lend: @escaping PictureLender) {
        self.byteCount = byteCount
        self.lend = lend
        var library: ImageLibrary?
        lend { library = ImageLibrary(for: $0) }
        self.library = library
    }

    var interest: Polling.Interest? { nil }

    func nextChunk(into buffer: WipedBuffer) -> PictureProgress {
        let end = min(position + ReaderProtocol.largestChunk, byteCount)
        buffer.append(UInt32(end - position).littleEndianBytes)
        lend { bytes in buffer.append(bytes.extracting(position..<end)) }
        position = end
        guard end == byteCount else { return .chunk }
        buffer.append(UInt32(0).littleEndianBytes)
        return .end
    }
}

/// An open image file.
final class PictureFile: PictureSource {
    let library: ImageLibrary?
    private let file: FileDescriptor
    /// The bytes that were read to find out the format, until they are sent.
    private let beginning: WipedBuffer
    private var count = 0

    /// Takes ownership of a file that can hold an image, and waits for its first bytes if it is a
    /// pipe.
    init(_ file: consuming FileDescriptor) throws(SystemCallFailure) {
        beginning = try WipedBuffer(capacity: ImageKind.beginningCount)
        while beginning.count < beginning.capacity {
            let progress = try beginning.append { output throws(SystemCallFailure) in
                try file.readAvailable(into: &output)
            }
            if progress == .ended { break }
            guard progress == .wouldWait else { continue }
            _ = try HelperProcess.wait(for: [.reading(file)], timeout: nil)
        }
        library = beginning.withBytes { ImageLibrary(for: $0) }
        self.file = file
    }

    var interest: Polling.Interest? { .reading(file) }

    func nextChunk(into buffer: WipedBuffer) -> PictureProgress {
        func refused(_ refusal: PictureRefusal) -> PictureProgress {
            buffer.removeAll()
            return .refused(refusal)
        }
        // A placeholder until the count is known.
        buffer.append(UInt32(0).littleEndianBytes)
        beginning.withBytes { bytes in buffer.append(bytes) }
        beginning.removeAll()
        let progress: FileDescriptor.Progress
        do { progress = try read(into: buffer) } catch { return refused(.unreadable(error)) }
        let size = buffer.count - 4
        count += size
        guard count <= ReaderProtocol.largestPicture else { return refused(.tooLarge(.bytes)) }
        switch progress {
        case .ended where count == 0: return refused(.empty)
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
    private func read(
        into buffer: WipedBuffer
    ) throws(SystemCallFailure) -> FileDescriptor.Progress {
        while buffer.count < ReaderProtocol.largestChunk + 4 {
            let room = ReaderProtocol.largestChunk + 4 - buffer.count
            let progress = try buffer.append(atMost: room) { output throws(SystemCallFailure) in
                try file.readAvailable(into: &output)
            }
            if progress == .ended || progress == .wouldWait { return progress }
        }
        return .moved(ReaderProtocol.largestChunk)
    }
}
