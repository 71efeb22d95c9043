import PostgreSQLStore
import Verification
import WatchwordSystem

/// The recorded ends of the event chains of this machine's servers, outside their database.
///
/// With them, the server detects that a database was rolled back to an earlier state. All servers
/// of one machine share the file.
struct CheckpointFile: Sendable {
    let path: String

    private static let limit = 1 << 20

    /// The recorded ends; empty if the file does not exist.
    func read() throws -> [AcknowledgedCheckpoint] {
        guard let text = try Self.text(of: path, limit: Self.limit) else { return [] }
        var ends: [AcknowledgedCheckpoint] = []
        for line in text.split(separator: "\n") {
            guard let space = line.lastIndex(of: " "),
                let position = UInt64(line[line.index(after: space)...]),
                let mark = ChainCheckpoint(text: String(line[..<space]))
            else { throw fault(.malformed) }
            ends.append(AcknowledgedCheckpoint(mark: mark, position: position))
        }
        return ends
    }

    /// Records `ends`, and keeps the ends of other chains; for each chain, the later end is kept.
    func keep(_ ends: [AcknowledgedCheckpoint]) throws {
        guard !ends.isEmpty else { return }
        try change { kept in
            var latest: [[UInt8]: AcknowledgedCheckpoint] = [:]
            for end in kept + ends where latest[end.mark.node]?.isLater(than: end) != true {
                latest[end.mark.node] = end
            }
            return Array(latest.values)
        }
    }

    /// Records `end` and discards all others.
    func replace(with end: AcknowledgedCheckpoint) throws {
        try change { _ in [end] }
    }

    private func change(_ change: ([AcknowledgedCheckpoint]) -> [AcknowledgedCheckpoint])
        throws
    {
        let (folderPath, name) = OutputFile.split(path)
        let folder = try naming(Folder(opening: folderPath)) { fault(.system($0)) }
        let lock = try naming(FileLock(name + ".lock", in: folder, timeout: .seconds(5))) {
            fault(Fault(writing: $0))
        }
        let lines = change(try read()).sorted { $0.position < $1.position }
            .map { "\($0.mark.text) \($0.position)\n" }
        try Self.replace(path, with: lines.joined(), beginning: ChainCheckpoint.textPrefix)
        withExtendedLifetime(lock) {}
    }

    /// The text of a file that only this user can access; `nil` if it does not exist.
    ///
    /// Invalid bytes become U+FFFD, which no such file contains.
    static func text(of path: String, limit: Int) throws -> String? {
        do throws(FileError) {
            let bytes = try Folder.readPrivateFile(at: path, limit: limit)
            return String(decoding: bytes, as: UTF8.self)
        } catch .missing {
            return nil
        } catch {
            throw ServerFailure.endsFile(path, .unreadable(error))
        }
    }

    /// Replaces a file, which must have the expected beginning.
    ///
    /// - Parameter beginning: the first bytes of every such file.
    static func replace(_ path: String, with text: String, beginning: String) throws {
        let (folderPath, name) = OutputFile.split(path)
        let folder = try naming(Folder(opening: folderPath)) { .endsFile(path, .system($0)) }
        let file = FileReplacement(of: name, beginningWith: Array(beginning.utf8))
        let bytes = Array(text.utf8)
        try naming(file.replace(with: bytes.span, in: folder, previous: .none)) {
            .endsFile(path, Fault(writing: $0))
        }
    }

    private func fault(_ fault: Fault) -> ServerFailure { .endsFile(path, fault) }
}

extension AcknowledgedCheckpoint {
    fileprivate func isLater(than other: AcknowledgedCheckpoint) -> Bool {
        mark.sequence > other.mark.sequence
    }
}

extension CheckpointFile {
    /// The reason why the recorded ends cannot be read or written.
    enum Fault: Hashable, Sendable {
        case unreadable(FileError)
        /// The file was not written by this program.
        case malformed
        case system(SystemCallFailure)
        /// A different process is writing the file.
        case busy

        /// The fault of a file that could not be locked or replaced.
        init(writing error: FileError) {
            self =
                switch error {
                case .busy: .busy
                case .system(let failure), .notConfirmed(let failure): .system(failure)
                default: .malformed
                }
        }
    }
}
