import Foundation

/// The server's first process and its children.
struct Postmaster {
    let pid: pid_t

    /// The postmaster that serves the data in `folder`; `nil` if there is none.
    init?(serving folder: String) {
        guard
            let text = try? String(contentsOfFile: "\(folder)/postmaster.pid", encoding: .utf8),
            let pid = text.split(separator: "\n").first.flatMap({ pid_t($0) }),
            Postmaster.isAlive(pid),
            // A different program may have reused the process ID.
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/cwd"))
                == folder
        else { return nil }
        self.pid = pid
    }

    /// Whether the postmaster reports that it accepts connections.
    static func isReady(in folder: String) -> Bool {
        let text = try? String(contentsOfFile: "\(folder)/postmaster.pid", encoding: .utf8)
        let lines = text?.split(separator: "\n", omittingEmptySubsequences: false) ?? []
        return lines.count > 7 && lines[7].hasPrefix("ready")
    }

    /// Kills all processes at once, as a power failure would; the kernel still writes its page
    /// cache to disk.
    func kill9() throws {
        // The process is stopped first, so that it starts no more children, and its children keep
        // their parent.
        try Postmaster.halt(pid)
        let all = [pid] + children()
        for process in all { kill(process, SIGKILL) }
        try poll("the server ends") { !all.contains(where: Postmaster.isAlive) }
    }

    /// Stops the process, and waits until the kernel reports it as stopped.
    static func halt(_ pid: pid_t) throws {
        kill(pid, SIGSTOP)
        try poll("a process stops") { ["T", "Z", nil].contains(fields(pid)?.state) }
    }

    private func children() -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { Postmaster.fields($0)?.parent == pid }
    }

    /// Whether the process runs.
    ///
    /// A zombie does not count.
    static func isAlive(_ pid: pid_t) -> Bool {
        guard let state = fields(pid)?.state else { return false }
        return state != "Z" && state != "X"
    }

    private static func fields(_ pid: pid_t) -> (state: String, parent: pid_t)? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            // The fields follow the process name in parentheses, which may contain any character.
            let rest = text.range(of: ") ", options: .backwards)
        else { return nil }
        let words = text[rest.upperBound...].split(separator: " ")
        guard words.count > 1, let parent = pid_t(words[1]) else { return nil }
        return (String(words[0]), parent)
    }
}
