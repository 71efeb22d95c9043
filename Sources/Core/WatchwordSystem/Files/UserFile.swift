internal import CLinux
internal import Glibc
internal import Synchronization

/// A user of this system.
public struct UserAccount: Hashable, Sendable {
    /// The user's name.
    public let name: String
    /// The user ID.
    public let user: UInt32
    /// The ID of the user's first group.
    public let group: UInt32
    /// The path of the user's home folder.
    public let home: String

    /// Combines the facts about a user.
    public init(name: String, user: UInt32, group: UInt32, home: String) {
        self.name = name
        self.user = user
        self.group = group
        self.home = home
    }

    /// The system's administrator.
    public static let root = UserAccount(name: "root", user: 0, group: 0, home: "/root")
}

extension UserDatabase {
    /// All users whom the database lists; a directory service may list none of its users.
    ///
    /// Users whose name or folder is not UTF-8 are left out. Only one thread may call it.
    public static func accounts() -> [UserAccount] {
        setpwent()
        defer { endpwent() }
        var accounts: [UserAccount] = []
        while let entry = unsafe getpwent() {
            guard let name = unsafe text(entry.pointee.pw_name),
                let home = unsafe text(entry.pointee.pw_dir)
            else { continue }
            accounts.append(
                UserAccount(
                    name: name, user: unsafe entry.pointee.pw_uid,
                    group: unsafe entry.pointee.pw_gid, home: home))
        }
        return accounts
    }

    private static func text(_ text: UnsafeMutablePointer<CChar>?) -> String? {
        guard let text = unsafe text else { return nil }
        return unsafe String(validatingCString: text)
    }
}

/// A file of a user, opened by root with no more rights than the user has.
///
/// The user decides where the folders and links on the way lead, and must not have root read what
/// the user cannot read.
public enum UserFile {
    /// Opens the regular file at `path`, which belongs to `owner`.
    ///
    /// The file itself may not be a symbolic link.
    ///
    /// - Throws: ``FileError/missing``, ``FileError/symbolicLink``, ``FileError/notAFile``,
    ///   ``FileError/otherOwner(_:)``, ``FileError/tooLarge(limit:)`` or a failed system call.
    public static func open(
        _ path: String, of owner: UserAccount, limit: Int
    ) throws(FileError) -> FileDescriptor {
        let number: Int32
        do { number = try attempt(path, of: owner).get() } catch {
            throw error.isMissing ? .missing : FileError(openingPrivate: error)
        }
        let file = FileDescriptor(owning: number)
        let facts = try FileError.system(in: file.facts())
        guard FileKind(facts) == .file else { throw .notAFile }
        guard facts.st_uid == owner.user else { throw .otherOwner(facts.st_uid) }
        guard facts.st_size <= limit else { throw .tooLarge(limit: limit) }
        return file
    }

    /// Opens the file in a thread that takes the owner's rights and then ends.
    private static func attempt(
        _ path: String, of owner: UserAccount
    ) -> Result<Int32, SystemCallFailure> {
        let outcome = Outcome()
        let thread = WorkerThread {
            outcome.set(
                Result { () throws(SystemCallFailure) in
                    if owner.user != geteuid() {
                        try call("setfsuid") { linux_access_files_as(owner.user, owner.group) }
                    }
                    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
                    return try call("open", retrying: true) { unsafe Glibc.open(path, flags) }
                })
        }
        guard let thread else {
            return .failure(SystemCallFailure(call: "pthread_create", number: EAGAIN))
        }
        thread.join()
        return outcome.value
    }

    private final class Outcome: Sendable {
        private let result = Mutex<Result<Int32, SystemCallFailure>>(
            .failure(SystemCallFailure(call: "open", number: ECANCELED)))

        var value: Result<Int32, SystemCallFailure> { result.withLock { $0 } }

        func set(_ outcome: Result<Int32, SystemCallFailure>) {
            result.withLock { $0 = outcome }
        }
    }
}
