import PostgreSQLStore
import Synchronization
import Verification
import WatchwordCryptography
import WatchwordSystem

/// The key file, which is read again after it has been replaced.
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

    /// The maximum size in bytes.
    private static let limit = 16 << 10
    /// The beginning of every key file.
    private static let beginning = Array("watchword-keys ".utf8)

    /// Opens the key file for a command, and creates it only if there is no database yet.
    static func opening(_ places: ServerPaths, making: Bool) throws(ServerFailure) -> KeyFile {
        let isDatabaseKnown: Bool
        do throws(PostgreSQLStoreError) {
            // Ask only if the file is missing: the database may be remote.
            let isMissing = FileStamp(of: places.keyFile) == nil
            isDatabaseKnown = isMissing ? try places.database.isKnown() : false
        } catch {
            throw .postgreSQL(places.database.shown, error)
        }
        do throws(ServerFailure) {
            return try open(places.keyFile, making: making && !isDatabaseKnown)
        } catch .keyFile(let path, .unreadable(.missing)) where isDatabaseKnown {
            throw .keyFile(path, .lost)
        }
    }

    /// Reads the file; if it is missing and `making` is true, creates it (0600, in a 0700
    /// directory).
    private static func open(_ path: String, making: Bool) throws(ServerFailure) -> KeyFile {
        do throws(ServerFailure) {
            return try open(path)
        } catch .keyFile(_, .unreadable(.missing)) where making {
            try make(path)
            return try open(path)
        }
    }

    private static func open(_ path: String) throws(ServerFailure) -> KeyFile {
        // Take the stamp first: if the file is replaced in between, it will be read again.
        guard let stamp = FileStamp(of: path) else { throw .keyFile(path, .unreadable(.missing)) }
        return KeyFile(path: path, ring: try read(path), stamp: stamp)
    }

    private static func read(_ path: String) throws(ServerFailure) -> KeyRing {
        let bytes: SecretBytes
        do throws(PrivateFileError) {
            var read = try Folder.readPrivateFile(at: path, limit: limit)
            bytes = SecretBytes(copying: read.span)
            for index in read.indices { read[index] = 0 }
        } catch {
            throw .keyFile(path, .unreadable(error))
        }
        do { return try KeyRing(parsing: bytes) } catch { throw .keyFile(path, .content(error)) }
    }

    /// Creates the file atomically, because another process may start at the same moment and read
    /// it.
    private static func make(_ path: String) throws(ServerFailure) {
        let text: SecretBytes
        do { text = try KeyRing.make().text() } catch { throw .keyFile(path, .content(error)) }
        do { try Folder.make(OutputFile.split(path).folder) } catch {
            throw .keyFile(path, .system(error))
        }
        let folder = try folder(of: path)
        let lock = try lock(path, in: folder)
        // Another process has created the file in the meantime; use that one.
        guard FileStamp(of: path) == nil else { return }
        try replace(path, in: folder, with: text)
        withExtendedLifetime(lock) {}
    }

    private static func replace(
        _ path: String, in folder: borrowing Folder, with text: SecretBytes
    ) throws(ServerFailure) {
        let file = FileReplacement(
            of: OutputFile.split(path).name, beginningWith: KeyFile.beginning)
        try text.withBytes { text throws(ServerFailure) in
            // Keep no previous version: it would still contain the retired keys.
            do throws(PrivateFileError) {
                try file.replace(with: text, in: folder, previous: .none)
            } catch {
                throw .keyFile(path, .notReplaced(error))
            }
        }
    }

    /// The current keys of the file; the previous ones if the file cannot be read.
    func ring() -> KeyRing {
        known.withLock { known in
            guard let stamp = FileStamp(of: path), stamp != known.stamp else { return known.ring }
            do throws(ServerFailure) {
                known.ring = try KeyFile.read(path)
                known.stamp = stamp
            } catch {
                // A missing or damaged key file must not stop a working server.
            }
            return known.ring
        }
    }

    /// Changes the keys in the file under an exclusive lock.
    ///
    /// - Returns: the new keys.
    @discardableResult func change(
        _ change: (KeyRing) throws(VerifierError) -> KeyRing
    ) throws(ServerFailure) -> KeyRing {
        let folder = try KeyFile.folder(of: path)
        let lock = try KeyFile.lock(path, in: folder)
        let old = try KeyFile.read(path)
        let ring: KeyRing
        let text: SecretBytes
        do throws(VerifierError) {
            ring = try change(old)
            text = ring.text()
        } catch {
            throw .keyFile(path, .content(error))
        }
        try KeyFile.replace(path, in: folder, with: text)
        withExtendedLifetime(lock) {}
        return ring
    }

    private static func folder(of path: String) throws(ServerFailure) -> Folder {
        do throws(SystemCallFailure) {
            let folder = try Folder(opening: OutputFile.split(path).folder)
            if try folder.exposure() == nil { return folder }
        } catch {
            throw .keyFile(path, .system(error))
        }
        throw .keyFile(path, .exposed)
    }

    private static func lock(_ path: String, in folder: borrowing Folder)
        throws(ServerFailure) -> FileLock
    {
        do throws(PrivateFileError) {
            return try FileLock(
                OutputFile.split(path).name + ".lock", in: folder, timeout: .seconds(5))
        } catch {
            throw .keyFile(path, .notReplaced(error))
        }
    }
}

extension KeyFile {
    /// Why the key file cannot be used.
    enum Fault: Equatable, Sendable {
        /// The database exists, so its key file must also exist.
        case lost
        case unreadable(PrivateFileError)
        case content(VerifierError)
        case notReplaced(PrivateFileError)
        /// Other users can write to its directory.
        case exposed
        case system(SystemCallFailure)
    }
}
