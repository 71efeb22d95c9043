/// The files that a program would lose in a power failure, according to its system calls.
///
/// A test that kills the program before each call of a trace cannot notice a call that is missing.
public struct PowerFailure {
    /// The options of `strace` that log what is needed, to be followed by a file for the log and by
    /// the program.
    public static let options = [
        "-y", "-qq", "-e",
        "trace=openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,linkat,unlinkat,mkdirat",
        "-o",
    ]

    private let folder: String
    /// The files whose content, and the folders whose names, may not be on disk yet.
    private var pending: Set<String> = []
    private var omissions: [String] = []

    /// Describes each omission below `folder`, according to a log of `strace`.
    ///
    /// An omission is a file that gains or loses a name before its content is on disk, or that is
    /// overwritten before its name is on disk, or anything that is not on disk at the end. The
    /// removal of a name need not be on disk, nor need the name of a lock.
    public static func omissions(in log: [UInt8], below folder: String) -> [String] {
        var state = PowerFailure(folder: folder)
        for line in String(decoding: log, as: UTF8.self).split(separator: "\n") {
            state.take(line)
        }
        return state.omissions + state.pending.sorted().map { "at the end: \($0)" }
    }

    private init(folder: String) { self.folder = folder }

    private mutating func take(_ line: Substring) {
        guard !line.contains(" = -1 "), let end = line.firstIndex(of: "(") else { return }
        let call = line[..<end]
        switch call {
        case "write", "pwrite64":
            let path = line.firstMatch(of: /^\w+\(\d+<([^>]*)>/)?.1
            if call == "pwrite64", let path, let slash = path.lastIndex(of: "/"),
                pending.contains(String(path[..<slash]))
            {
                omissions.append("\(call): \(path)")
            }
            note(path)
        case "openat":
            if line.contains("O_EXCL"),
                let name = line.firstMatch(of: /\d+<([^>]*)>, "([^"]*)"/), !name.2.hasSuffix("lock")
            {
                note(name.1)
            }
        case "fsync", "fdatasync":
            if let path = line.firstMatch(of: /^\w+\(\d+<([^>]*)>/)?.1 {
                pending.remove(String(path))
            }
        default:
            for (index, name) in line.matches(of: /\d+<([^>]*)>, "([^"]*)"/).enumerated() {
                if pending.contains("\(name.1)/\(name.2)") {
                    omissions.append("\(call): \(name.1)/\(name.2)")
                }
                // The first name of a link stays as it is.
                if call != "unlinkat", call != "linkat" || index == 1 { note(name.1) }
            }
        }
    }

    private mutating func note(_ path: Substring?) {
        guard let path, path == folder || path.hasPrefix(folder + "/") else { return }
        pending.insert(String(path))
    }
}
