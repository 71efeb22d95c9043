internal import Glibc

/// The program that runs: where its file lies, and what lies beside it.
public enum RunningProgram {
    /// The folder of the running program's file, without a slash at the end; `nil` without `/proc`.
    public static func folder() -> String? {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &path, path.count)
        guard count > 0, count < path.count else { return nil }
        // A path is bytes; one that is not UTF-8 is none that could be spelled in a `String`.
        guard let text = String(validating: path.prefix(count), as: UTF8.self) else { return nil }
        guard let slash = text.lastIndex(of: "/") else { return nil }
        return String(text[..<slash])
    }

    /// The path of a program that belongs to the running one: beside it, as built, or where an installation
    /// puts it (`../libexec/watchword/`).
    public static func companion(_ name: String) -> String? {
        guard let folder = folder() else { return nil }
        return ["\(folder)/\(name)", "\(folder)/../libexec/watchword/\(name)"].first(where: canRun)
    }

    private static func canRun(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }
}
