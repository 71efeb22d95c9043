internal import CLinux
internal import Glibc

/// The running program: the location of its file and of the files next to it.
public enum RunningProgram {
    /// The folder of the running program's file, without a trailing slash; `nil` without `/proc`.
    public static func folder() -> String? { path().flatMap(folder(of:)) }

    /// The folder of the file at `path`, without a trailing slash; `nil` if the path names none.
    static func folder(of path: String) -> String? {
        // A `Character` may be a slash with an accent.
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) }
    }

    /// The path of the running program's file; `nil` without `/proc`.
    public static func path() -> String? {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &path, path.count)
        guard count > 0, count < path.count else { return nil }
        // A path that is not UTF-8 cannot be represented in a `String`.
        return String(validating: path.prefix(count), as: UTF8.self)
    }

    /// The path of a program that belongs to the running one: next to it, as built, or in the
    /// installation folder (`../libexec/watchword/`).
    public static func companion(_ name: String) -> String? {
        guard let folder = folder() else { return nil }
        return ["\(folder)/\(name)", "\(folder)/../libexec/watchword/\(name)"].first(where: canRun)
    }

    /// The path of the program `name` in the folders of the variable PATH.
    public static func find(_ name: String) -> String? {
        folders(in: Environment.value("PATH") ?? "").map { "\($0)/\(name)" }.first(where: canRun)
    }

    /// The absolute folders in a list as in PATH; a relative folder could contain anything.
    static func folders(in list: String) -> [String] {
        list.utf8.split(separator: UInt8(ascii: ":")).filter { $0.first == UInt8(ascii: "/") }
            .map { String(Substring($0)) }
    }

    private static func canRun(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }
}

/// Facts about this process, and its privileges.
public enum CurrentProcess {
    /// The process ID, as `getpid(2)` returns it.
    public static var identifier: Int32 { getpid() }

    /// Gives up root's privileges for good, in all threads, and continues as the owner of the folder
    /// at `path`, in the folder's group and no other.
    public static func becomeOwner(of path: String) throws(SystemCallFailure) {
        var facts = stat()
        try call("stat") { unsafe stat(path, &facts) }
        // In this order: only root may change the groups. For root, the calls also change the real
        // and the saved IDs.
        try call("setgroups") { setgroups(0, nil) }
        try call("setgid") { setgid(facts.st_gid) }
        try call("setuid") { setuid(facts.st_uid) }
    }

    /// Runs `body` with the owner of the folder at `path` as the effective user of all threads, in the
    /// folder's group and no other; then root continues, without its further groups.
    public static func asOwner<Value>(of path: String, _ body: () throws -> Value) throws -> Value {
        var facts = stat()
        try call("stat") { unsafe stat(path, &facts) }
        let group = getegid()
        try call("setgroups") { setgroups(0, nil) }
        try call("setegid") { setegid(facts.st_gid) }
        try call("seteuid") { seteuid(facts.st_uid) }
        let result = Result(catching: body)
        try call("seteuid") { seteuid(0) }
        try call("setegid") { setegid(group) }
        return try result.get()
    }
}

/// The process's command-line arguments.
public enum ProgramArguments {
    /// Whether all arguments are UTF-8; Swift's own list replaces invalid bytes with U+FFFD.
    public static var areUTF8: Bool {
        let arguments = unsafe UnsafeBufferPointer(
            start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        return arguments.indices.allSatisfy { index in
            guard let argument = unsafe arguments[index] else { return true }
            return unsafe String(validatingCString: argument) != nil
        }
    }
}

/// The process's environment variables; secrets are never read from them.
public enum Environment {
    /// The value of `name`; `nil` if it is unset or empty, which we treat the same.
    public static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// The computer's name; `nil` if `/proc` does not provide it.
    public static func hostName() -> String? {
        let path = "/proc/sys/kernel/hostname"
        let line = ifPossible(try FileDescriptor(reading: path).bytes(atMost: 256))
        return line.map { String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self) }
    }

    /// Sets `name`, for this process and the programs that it starts.
    ///
    /// Call it only before other threads exist.
    public static func set(_ name: String, to value: String) throws(SystemCallFailure) {
        try call("setenv") { unsafe setenv(name, value, 1) }
    }

    /// The variables of `names` that have a value, as `NAME=value`.
    public static func variables(_ names: [String]) -> [String] {
        names.compactMap { name in value(name).map { "\(name)=\($0)" } }
    }
}

/// A program that keeps running after this process has ended.
///
/// It has its own session, so that closing the terminal does not end it, the folder `/`, no open
/// files, and an environment that contains only the given variables.
public enum BackgroundProgram {
    /// Starts the program at `path`.
    ///
    /// - Returns: the end of a pipe from its standard output, non-blocking. The program reports
    ///   over it that it is ready, and closes it.
    public static func start(
        _ path: String, arguments: [String], environment: [String] = []
    ) throws(SystemCallFailure) -> FileDescriptor {
        let report = try Pipe()
        let nothing = try FileDescriptor(reading: "/dev/null")
        _ = try ChildProcess.spawn(
            ChildProcess.Program(
                path: path, arguments: arguments, environment: environment, hasOwnSession: true),
            input: nothing, output: report.writing)
        try report.reading.setBlocking(false)
        return try report.reading.duplicate()
    }
}

/// A system library that is loaded when it is first needed.
///
/// It is meant for libraries that few runs of a program need: loading a library at startup takes a
/// tenth of a millisecond per run. A loaded library stays loaded.
@safe public struct SharedLibrary: @unchecked Sendable {
    // `@unchecked Sendable`: the handle is never closed, and its calls are thread-safe.
    private let handle: UnsafeMutableRawPointer

    /// Loads a library by name, as the dynamic linker would; `nil` if it is not installed.
    ///
    /// - Parameter name: the name that programs are linked with, such as `libpng16.so.16`.
    public init?(_ name: String) {
        guard let opened = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        unsafe handle = opened
    }

    /// The library's function `name`; `nil` if it does not exist.
    ///
    /// - Parameter type: the function's type with the C convention, which must match the library's
    ///   header; this is not checked.
    @unsafe public func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        guard let address = unsafe dlsym(handle, name) else { return nil }
        return unsafe unsafeBitCast(address, to: type)
    }
}
