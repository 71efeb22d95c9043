/// Finds files that a program wrote and did not sync, in the system calls that `strace` recorded.
///
/// A test that kills a program before each call of a trace cannot notice a call that is missing.
public struct UnsyncedFiles {
    /// The name of each open file, and whether something was written after its last sync.
    private var files: [Substring: (name: Substring, isWritten: Bool)] = [:]
    private var found: [String] = []

    private init() {}

    /// The names of the files that were not synced after their last write, before they were linked,
    /// renamed, removed or closed.
    public static func names(in calls: [String]) -> [String] {
        var search = UnsyncedFiles()
        for call in calls { search.read(call) }
        return search.found + search.files.values.filter(\.isWritten).map { String($0.name) }
    }

    private mutating func read(_ call: String) {
        let parts = call.split(separator: "(", maxSplits: 1)
        guard parts.count == 2 else { return }
        let descriptor = parts[1].prefix { $0.isNumber }
        switch parts[0] {
        case "openat":
            guard let result = call.split(separator: " = ").last else { return }
            // The descriptor is new, so the file that had it was closed.
            note(files.removeValue(forKey: result))
            files[result] = (UnsyncedFiles.name(in: call), false)
        case "write", "pwrite64": files[descriptor]?.isWritten = true
        case "fsync", "fdatasync": files[descriptor]?.isWritten = false
        case "linkat", "renameat", "renameat2", "unlinkat":
            let name = UnsyncedFiles.name(in: call)
            for file in files.values where file.name == name { note(file) }
        default: break
        }
    }

    private mutating func note(_ file: (name: Substring, isWritten: Bool)?) {
        if let file, file.isWritten { found.append(String(file.name)) }
    }

    private static func name(in call: String) -> Substring {
        let parts = call.split(separator: "\"", maxSplits: 2)
        return parts.count == 3 ? parts[1] : ""
    }
}
