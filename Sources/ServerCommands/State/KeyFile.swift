import Cryptography
import POSIX
import PostgreSQLStore
import Synchronization
import Verification

/// The file with the keys outside the database; looked at again whenever it was replaced.
final class KeyFile: Sendable {
    private struct Known {
        var ring: KeyRing
        var stamp: FileStamp
    }

    let path: String
    private let known: Mutex<Known>

    private init(path: String, ring: KeyRing, stamp: FileStamp) {
        self.path = path
        known = Mutex(Known(ring: ring, stamp: stamp))
    }

    /// The most bytes that a key file has.
    private static let limit = 16 << 10
    /// What every key file begins with.
    private static let beginning = Array("watchword-keys ".utf8)

    /// The same as ``open(_:making:)``, as a verb needs it.
    static func opening(_ places: ServerPlaces, making: Bool) throws(ServerFailure) -> KeyFile {
        let isDatabaseKnown: Bool
        do throws(PostgreSQLStoreError) {
            // Asked when there is no file alone: the database may be far away.
            let isMissing = FileStamp(of: places.keyFile) == nil
            isDatabaseKnown = isMissing ? try places.database.isKnown() : false
        } catch {
            throw .postgreSQL(places.database.shown, error)
        }
        do throws(KeyFileError) {
            return try open(places.keyFile, making: making && !isDatabaseKnown)
        } catch .unreadable(.missing) where isDatabaseKnown {
            throw .keyFile(places.keyFile, .lost)
        } catch {
            throw .keyFile(places.keyFile, error)
        }
    }

    /// Reads the file; makes it (0600, in a 0700 folder) when it is missing and that is wished.
    private static func open(_ path: String, making: Bool) throws(KeyFileError) -> KeyFile {
        do throws(KeyFileError) {
            return try open(path)
        } catch .unreadable(.missing) {
            guard making else { throw .unreadable(.missing) }
            try make(path)
            return try open(path)
        }
    }

    private static func open(_ path: String) throws(KeyFileError) -> KeyFile {
        // Before the reading: a file that is replaced in between is read once more.
        guard let stamp = FileStamp(of: path) else { throw .unreadable(.missing) }
        return KeyFile(path: path, ring: try read(path), stamp: stamp)
    }

    private static func read(_ path: String) throws(KeyFileError) -> KeyRing {
        let (folderPath, name) = OutputFile.split(path)
        let bytes: SecretBytes
        do throws(PrivateFileError) {
            let folder: Folder
            do { folder = try Folder(opening: folderPath) } catch {
                throw error.meansMissing ? .missing : .system(error)
            }
            var read = try folder.readPrivateFile(name, limit: limit)
            bytes = SecretBytes(copying: read.span)
            for index in read.indices { read[index] = 0 }
        } catch {
            throw .unreadable(error)
        }
        do { return try KeyRing(parsing: bytes) } catch { throw .content(error) }
    }

    /// Makes the file whole or not at all: another process that starts at the same moment reads it.
    private static func make(_ path: String) throws(KeyFileError) {
        let text: SecretBytes
        do { text = try KeyRing.make().text() } catch { throw .content(error) }
        let (folderPath, name) = OutputFile.split(path)
        do { try Folder.make(folderPath) } catch { throw .system(error) }
        let folder = try KeyFile.folder(folderPath)
        let lock = try KeyFile.lock(name, in: folder)
        // Another process was faster: its file is as good.
        guard FileStamp(of: path) == nil else { return }
        try replace(name, in: folder, with: text)
        withExtendedLifetime(lock) {}
    }

    private static func replace(
        _ name: String, in folder: borrowing Folder, with text: SecretBytes
    ) throws(KeyFileError) {
        let file = FileReplacement(of: name, beginningWith: KeyFile.beginning)
        try text.withBytes { text throws(KeyFileError) in
            // The keys that were given up go with the file that held them.
            do throws(FileReplacementError) {
                try file.replace(with: text, in: folder, previous: .none)
            } catch {
                throw .notReplaced(error)
            }
        }
    }

    /// The ring as the file has it now; as it was before, where the file can't be read.
    func ring() -> KeyRing {
        known.withLock { known in
            guard let stamp = FileStamp(of: path), stamp != known.stamp else { return known.ring }
            do throws(KeyFileError) {
                known.ring = try KeyFile.read(path)
                known.stamp = stamp
            } catch {
                // A file that is gone or spoiled is no reason to stop what works.
            }
            return known.ring
        }
    }

    /// Puts another ring into the file, made from the one that is there, with nobody else at it.
    ///
    /// - Returns: the ring that is there now.
    @discardableResult func change(
        _ change: (KeyRing) throws(KeyRingError) -> KeyRing
    ) throws(KeyFileError) -> KeyRing {
        let (folderPath, name) = OutputFile.split(path)
        let folder = try KeyFile.folder(folderPath)
        let lock = try KeyFile.lock(name, in: folder)
        let old = try KeyFile.read(path)
        let ring: KeyRing
        let text: SecretBytes
        do throws(KeyRingError) {
            ring = try change(old)
            text = try ring.text()
        } catch {
            throw .content(error)
        }
        try KeyFile.replace(name, in: folder, with: text)
        withExtendedLifetime(lock) {}
        return ring
    }

    private static func folder(_ path: String) throws(KeyFileError) -> Folder {
        do throws(SystemCallFailure) {
            let folder = try Folder(opening: path)
            if try folder.exposure() == nil { return folder }
        } catch {
            throw .system(error)
        }
        throw .exposed
    }

    private static func lock(_ name: String, in folder: borrowing Folder)
        throws(KeyFileError) -> FileLock
    {
        do throws(FileLockError) {
            return try FileLock(name + ".lock", in: folder, timeout: .seconds(5))
        } catch {
            switch error {
            case .busy: throw .busy
            case .system(let failure): throw .system(failure)
            }
        }
    }
}
