import PostgreSQLStore
import Verification
import WatchwordSystem

/// The recorded ends of the event chains of this machine's servers, outside their database.
///
/// They reveal that a database was rolled back to an earlier state. All servers of one machine
/// share the file.
struct CheckpointFile: Sendable {
    let path: String

    private static let limit = 1 << 20

    /// The recorded ends; empty if the file does not exist.
    func read() throws -> [AcknowledgedCheckpoint] {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try Folder.readPrivateFile(at: path, limit: Self.limit)
        } catch .missing {
            return []
        } catch {
            throw fault(.unreadable(error))
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw fault(.malformed) }
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

    /// Records `ends`, and keeps the ends of other chains; for each chain, the later end wins.
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
        let file = FileReplacement(of: name, beginningWith: Array(ChainCheckpoint.textPrefix.utf8))
        let text = Array(lines.joined().utf8)
        try naming(file.replace(with: text.span, in: folder, previous: .none)) {
            fault(Fault(writing: $0))
        }
        withExtendedLifetime(lock) {}
    }

    private func fault(_ fault: Fault) -> ServerFailure { .endsFile(path, fault) }
}

extension AcknowledgedCheckpoint {
    fileprivate func isLater(than other: AcknowledgedCheckpoint) -> Bool {
        mark.sequence > other.mark.sequence
    }
}

extension CheckpointFile {
    /// Why the recorded ends cannot be read or written.
    enum Fault: Hashable, Sendable {
        case unreadable(FileError)
        /// The file was not written by this program.
        case malformed
        case system(SystemCallFailure)
        /// Another process is writing it.
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
