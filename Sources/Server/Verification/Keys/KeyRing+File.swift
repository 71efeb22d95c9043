internal import WatchwordCryptography
internal import WatchwordSystem

// The key file, which is stored apart from the database.
extension KeyRing {
    /// The maximum size of a key file in bytes.
    package static let maximumFileSize = 16 << 10
    /// The beginning of every key file.
    private static let beginning = Array("watchword-keys ".utf8)

    /// Reads the key file at `path`, and never creates it.
    ///
    /// The file must be a regular file of this process's user, not a symbolic link, of at most
    /// 16 KiB, and no other user may have any permission for it.
    ///
    /// - Throws: ``VerifierError/keyRing(_:)`` with ``Fault/unreadable(_:)``, ``Fault/malformed`` or
    ///   ``Fault/newer``.
    public init(at path: String) throws(VerifierError) {
        var bytes = try Self.file(
            Fault.unreadable, in: Folder.readPrivateFile(at: path, limit: Self.maximumFileSize))
        try self.init(erasing: &bytes)
    }

    /// Reads the key file at `path`, or creates it if neither it nor the store exists.
    ///
    /// A store is useless without its keys. If the store exists and the file does not, the file is
    /// lost or the path is wrong, and new keys would make every credential unusable: the
    /// initialiser then throws ``Fault/lost``. The new file has mode 0600, is complete from its
    /// first moment, and never replaces a file. Missing folders are created with mode 0700. If
    /// several processes start at the same time, all of them get the keys of the process that
    /// created the file. `PATH.lock` remains beside the file.
    ///
    /// - Parameters:
    ///   - path: the file, as for ``init(at:)``; best on a different disk than the database, or at
    ///     least not in its backups.
    ///   - isStoreKnown: whether the store exists, empty or not. The closure is called only if the
    ///     file is missing, because a database may be remote. `SQLiteVerificationStore.exists(_:)`
    ///     and `PostgreSQLVerificationStore.exists(_:)` return this.
    /// - Throws: what `isStoreKnown` throws, or ``VerifierError/keyRing(_:)`` with ``Fault/lost``,
    ///   ``Fault/exposed(_:)``, ``Fault/notWritten(_:)`` or an error of ``init(at:)``.
    public init(at path: String, isStoreKnown: () throws -> Bool) throws {
        self = try Self.opened(at: path, creating: true, isStoreKnown: isStoreKnown).get()
    }

    /// Does the same work, but returns the errors that concern the file.
    ///
    /// - Parameter creating: whether a missing file is created.
    package static func opened(
        at path: String, creating: Bool, isStoreKnown: () throws -> Bool
    ) throws -> Result<KeyRing, VerifierError> {
        // Ask first: another process may create the file and the store between the two questions.
        let isKnown = FileStamp(of: path) == nil ? try isStoreKnown() : false
        let found = Result { () throws(VerifierError) in try KeyRing(at: path) }
        guard case .failure(.keyRing(.unreadable(.missing))) = found else { return found }
        guard !isKnown else { return .failure(.keyRing(.lost)) }
        guard creating else { return found }
        return Result { () throws(VerifierError) in
            try create(path)
            return try KeyRing(at: path)
        }
    }

    /// Reads the content of a key file, and overwrites it with zeros.
    package init(erasing bytes: inout [UInt8]) throws(VerifierError) {
        let text = SecretBytes(copying: bytes.span)
        for index in bytes.indices { bytes[index] = 0 }
        try self.init(parsing: text)
    }

    /// Changes the keys in the file at `path`, for example with ``adding(makingCurrent:randomness:)``.
    ///
    /// Concurrent changes are made one after the other, and readers see either the old file or the
    /// new file. The old file is not kept, because it would still contain retired keys.
    ///
    /// - Returns: the new keys.
    /// - Throws: what `change` throws, or ``VerifierError/keyRing(_:)`` as
    ///   ``init(at:isStoreKnown:)`` does.
    @discardableResult public static func change(
        at path: String, _ change: (KeyRing) throws(VerifierError) -> KeyRing
    ) throws(VerifierError) -> KeyRing {
        let folder = try folder(of: path)
        let lock = try lock(path, in: folder)
        let ring = try change(KeyRing(at: path))
        try ring.write(to: path, in: folder, previous: .none)
        withExtendedLifetime(lock) {}
        return ring
    }

    /// Creates the file, unless another process has just created it.
    private static func create(_ path: String) throws(VerifierError) {
        let ring = try KeyRing.make()
        try file(
            Fault.notWritten, in: FileError.system(in: Folder.make(OutputFile.split(path).folder)))
        let folder = try folder(of: path)
        let lock = try lock(path, in: folder)
        guard FileStamp(of: path) == nil else { return }
        try ring.write(to: path, in: folder, previous: .absent)
        withExtendedLifetime(lock) {}
    }

    private func write(
        to path: String, in folder: borrowing Folder, previous: FileReplacement.Previous
    ) throws(VerifierError) {
        let file = FileReplacement(
            of: OutputFile.split(path).name, beginningWith: Self.beginning)
        try text().withBytes { text throws(VerifierError) in
            try Self.file(
                Fault.notWritten, in: file.replace(with: text, in: folder, previous: previous))
        }
    }

    /// Opens the file's folder, and refuses one in which other users can change files.
    private static func folder(of path: String) throws(VerifierError) -> Folder {
        let folder = try file(
            Fault.notWritten,
            in: FileError.system(in: Folder(opening: OutputFile.split(path).folder)))
        let exposure = try file(Fault.notWritten, in: FileError.system(in: folder.exposure()))
        if let exposure { throw .keyRing(.exposed(exposure)) }
        return folder
    }

    private static func lock(
        _ path: String, in folder: borrowing Folder
    ) throws(VerifierError) -> FileLock {
        let name = OutputFile.split(path).name + ".lock"
        return try file(Fault.notWritten, in: FileLock(name, in: folder, timeout: .seconds(5)))
    }

    private static func file<Value: ~Copyable>(
        _ fault: (FileError) -> Fault, in call: @autoclosure () throws(FileError) -> Value
    ) throws(VerifierError) -> Value {
        do { return try call() } catch { throw .keyRing(fault(error)) }
    }
}
