internal import CLinux
internal import Glibc

/// A user of this system.
public struct UserAccount: Hashable, Sendable {
    /// The name with which the user logs in.
    public let name: String
    /// The numeric user ID.
    public let user: UInt32
    /// The ID of the user's first group.
    public let group: UInt32
    /// The path of the user's home folder.
    public let home: String

    /// Combines the facts, which are not compared with the user database.
    public init(name: String, user: UInt32, group: UInt32, home: String) {
        self.name = name
        self.user = user
        self.group = group
        self.home = home
    }

    /// The system's administrator, whose user ID is 0.
    public static let root = UserAccount(name: "root", user: 0, group: 0, home: "/root")
}

extension UserDatabase {
    /// All users whom the database lists; a directory service may list none of its users.
    ///
    /// Users whose name or folder is not UTF-8 are left out. Only one thread may call it.
    public static func accounts() throws(SystemCallFailure) -> [UserAccount] {
        setpwent()
        defer { endpwent() }
        var accounts: [UserAccount] = []
        while true {
            errno = 0
            guard let entry = unsafe getpwent() else {
                // Some databases report the end of the list with an error number.
                guard errno == 0 || errno == ENOENT else {
                    throw SystemCallFailure(call: "getpwent", number: errno)
                }
                return accounts
            }
            guard let name = unsafe text(entry.pointee.pw_name),
                let home = unsafe text(entry.pointee.pw_dir)
            else { continue }
            accounts.append(
                UserAccount(
                    name: name, user: unsafe entry.pointee.pw_uid,
                    group: unsafe entry.pointee.pw_gid, home: home))
        }
    }

    private static func text(_ text: UnsafeMutablePointer<CChar>?) -> String? {
        guard let text = unsafe text else { return nil }
        return unsafe String(validatingCString: text)
    }
}

/// A file of a user, opened by root with no more rights than the user has.
///
/// The user decides where the folders and links on the way lead, and must not be able to make root
/// read a file that the user cannot read.
public enum UserFile {
    /// Opens the regular file at `path`, which belongs to `owner`, and reads it with `body`.
    ///
    /// The file itself may not be a symbolic link.
    ///
    /// - Returns: `nil` if reading takes longer than `timeout`: a network file system may not
    ///   answer. A thread then waits for the file until the process ends.
    /// - Throws: ``FileError/missing``, ``FileError/symbolicLink``, ``FileError/notAFile``,
    ///   ``FileError/otherOwner(_:)``, ``FileError/tooLarge(limit:)`` or a failed system call.
    public static func read<Value: Sendable>(
        _ path: String, of owner: UserAccount, limit: Int, timeout: Duration,
        _ body: @escaping @Sendable (borrowing FileDescriptor) throws(FileError) -> Value
    ) throws(FileError) -> Value? {
        let awaited = AwaitedResult<Value, FileError>()
        let thread = WorkerThread {
            awaited.end(
                Result { () throws(FileError) in
                    let file = try open(path, of: owner, limit: limit)
                    return try body(file)
                })
        }
        guard let thread else {
            throw .system(SystemCallFailure(call: "pthread_create", number: EAGAIN))
        }
        guard let result = awaited.wait(timeout: timeout) else {
            thread.detach()
            return nil
        }
        thread.join()
        return try result.get()
    }

    /// Opens the file in this thread, which permanently assumes the owner's rights.
    private static func open(
        _ path: String, of owner: UserAccount, limit: Int
    ) throws(FileError) -> FileDescriptor {
        let number: Int32
        do throws(SystemCallFailure) {
            if owner.user != geteuid() {
                try call("setfsuid") { linux_access_files_as(owner.user, owner.group) }
            }
            let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
            number = try call("open", retrying: true) { unsafe Glibc.open(path, flags) }
        } catch {
            throw error.isMissing ? .missing : FileError(openingPrivate: error)
        }
        let file = FileDescriptor(owning: number)
        let facts = try FileError.system(in: file.facts())
        guard FileKind(facts) == .file else { throw .notAFile }
        guard facts.st_uid == owner.user else { throw .otherOwner(facts.st_uid) }
        guard facts.st_size <= limit else { throw .tooLarge(limit: limit) }
        return file
    }
}
