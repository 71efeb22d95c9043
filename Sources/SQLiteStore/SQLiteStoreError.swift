public import POSIX
public import Verification

/// Why a database is not opened, made or copied.
public enum SQLiteStoreError: Error, Hashable, Sendable {
    /// Others can change the files in its folder.
    case exposed(FolderExposure)
    /// The file is not its owner's alone, or no file.
    case notPrivate(PrivateFileError)
    /// It is the database of another program, or none.
    case notOurs
    /// A newer version of this program made it; this is its schema's number.
    case newer(schema: Int64)
    /// It is a copy that `backup` made; it must go through `restore`, which ends what may have been
    /// spent since.
    case isBackup
    /// An earlier state was put in its place: events are missing that its mark says were there.
    case putBack
    /// The clock is behind the newest time that the copy tells of, which is this.
    case clockBehind(UnixTime)
    /// The mark beside it is not authentic, or not readable.
    case damagedMark
    /// What should be made is there already.
    case exists
    /// Another process is opening it, for longer than was waited.
    case busy
    /// The system refused.
    case system(SystemCallFailure)
    /// The database refused.
    case store(StoreFailure)
}

extension SQLiteStoreError {
    init(_ failure: SQLiteFailure) { self = .store(StoreFailure(failure)) }

    init(_ failure: MemberFailure) { self = .store(failure.storeFailure) }
}
