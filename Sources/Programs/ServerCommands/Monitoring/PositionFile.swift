import Verification
import WatchwordCryptography
import WatchwordSystem

/// The file with the position of the last event that was passed on.
///
/// The file is locked, so that only one process passes the events on.
struct PositionFile: ~Copyable {
    /// An event's position, and its digest.
    struct Place: Hashable, Sendable {
        let position: UInt64
        /// The digest of the event, by which a different database is recognised.
        let digest: String

        init(_ event: ChainedEvent) {
            position = event.position
            digest = Base64URL.encode(event.digest.span)
        }

        /// Parses the canonical text of a place.
        fileprivate init?(text: String) {
            let words = text.split(whereSeparator: \.isWhitespace)
            guard words.count == 3, let position = UInt64(words[1]), position > 0 else {
                return nil
            }
            self.position = position
            digest = String(words[2])
            guard self.text == text else { return nil }
        }

        fileprivate var text: String { Place.prefix + "\(position) \(digest)\n" }

        fileprivate static let prefix = "watchword-event "
    }

    let path: String
    private let lock: FileLock

    private static let limit = 1 << 10

    init(_ path: String) throws {
        let (folderPath, name) = OutputFile.split(path)
        let folder = try naming(Folder(opening: folderPath)) { .endsFile(path, .system($0)) }
        lock = try naming(FileLock(name + ".lock", in: folder, timeout: .zero)) {
            .endsFile(path, CheckpointFile.Fault(writing: $0))
        }
        self.path = path
    }

    /// The stored place; `nil` if the file does not exist.
    func read() throws -> Place? {
        guard let text = try CheckpointFile.text(of: path, limit: Self.limit) else { return nil }
        guard let place = Place(text: text) else {
            throw ServerFailure.endsFile(path, .malformed)
        }
        return place
    }

    func keep(_ place: Place) throws {
        try CheckpointFile.replace(path, with: place.text, beginning: Place.prefix)
    }
}
