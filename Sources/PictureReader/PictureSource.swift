internal import POSIX

/// An open picture file, cut into chunks on its way to a reader.
final class PictureSource {
    let file: FileDescriptor
    private var count = 0

    /// What came of asking for the next chunk.
    enum Progress: Hashable {
        /// A chunk is in the buffer.
        case chunk
        /// The last chunk and the end of the picture are in the buffer.
        case end
        /// The file is a pipe that has nothing to read yet.
        case wouldWait
    }

    /// Takes over a file that can hold a picture.
    ///
    /// - Throws: the refusal of what can't, found before a byte is read.
    init(_ file: consuming FileDescriptor) throws(PictureRefusal) {
        switch try PictureSource.kind(of: file) {
        case .file(let size):
            guard size <= ReaderProtocol.largestPicture else { throw .tooLarge(.bytes) }
        case .folder: throw .folder
        case .pipe: break
        case .other: throw .notAFile
        }
        self.file = file
    }

    /// Opens the file at `path`.
    convenience init(path: String) throws(PictureRefusal) {
        let file: FileDescriptor
        do { file = try FileDescriptor(reading: path) } catch { throw .unreadable(error) }
        try self.init(file)
    }

    /// Fills `buffer`, which must be empty and have room for a chunk and two counts.
    ///
    /// - Throws: the refusal of the picture, now that more of it is known; `buffer` is empty then.
    func nextChunk(into buffer: WipedBuffer) throws(PictureRefusal) -> Progress {
        // The count's place, until it is known.
        append(0, to: buffer)
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
            return .end  // The count of 0 that is there says so.
        case .wouldWait where size == 0:
            buffer.removeAll()
            return .wouldWait
        default:
            buffer.replace(from: 0, with: UInt32(size).littleEndianBytes.span)
            guard progress == .ended else { return .chunk }
            append(0, to: buffer)
            return .end
        }
    }

    /// Reads until the chunk is full, the file has ended or would make us wait.
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

/// Puts a count into `buffer`, which must have room for it.
func append(_ number: UInt32, to buffer: WipedBuffer) {
    buffer.append { output in
        for byte in number.littleEndianBytes { output.append(byte) }
    }
}
