import Foundation

/// The server's first process, and those that it made.
struct Postmaster {
    let pid: pid_t

    /// The one that serves the data in `folder`; nothing when none does.
    init?(serving folder: String) {
        guard
            let text = try? String(contentsOfFile: "\(folder)/postmaster.pid", encoding: .utf8),
            let pid = text.split(separator: "\n").first.flatMap({ pid_t($0) }),
            Postmaster.isAlive(pid),
            // A number that was given to somebody else meanwhile is not to be killed.
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/cwd"))
                == folder
        else { return nil }
        self.pid = pid
    }

    /// Whether it says of itself that it takes connections.
    static func isReady(in folder: String) -> Bool {
        let text = try? String(contentsOfFile: "\(folder)/postmaster.pid", encoding: .utf8)
        let lines = text?.split(separator: "\n", omittingEmptySubsequences: false) ?? []
        return lines.count > 7 && lines[7].hasPrefix("ready")
    }

    /// Kills all of it in the middle of whatever it does, as when the machine loses power but for
    /// what the kernel has taken for the disk already.
    func kill9() throws {
        // Stopped first: it makes no more children, and none of them loses its parent's number.
        try Postmaster.halt(pid)
        let all = [pid] + children()
        for process in all { kill(process, SIGKILL) }
        try poll("the server is gone") { !all.contains(where: Postmaster.isAlive) }
    }

    /// Stops the process, and waits until it does nothing any more.
    static func halt(_ pid: pid_t) throws {
        kill(pid, SIGSTOP)
        try poll("a process stops") { ["T", "Z", nil].contains(fields(pid)?.state) }
    }

    private func children() -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { Postmaster.fields($0)?.parent == pid }
    }

    /// Whether it runs: one that only waits for its parent to take notice does not.
    static func isAlive(_ pid: pid_t) -> Bool {
        guard let state = fields(pid)?.state else { return false }
        return state != "Z" && state != "X"
    }

    private static func fields(_ pid: pid_t) -> (state: String, parent: pid_t)? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            // After the name, which may hold anything, in brackets.
            let rest = text.range(of: ") ", options: .backwards)
        else { return nil }
        let words = text[rest.upperBound...].split(separator: " ")
        guard words.count > 1, let parent = pid_t(words[1]) else { return nil }
        return (String(words[0]), parent)
    }
}
