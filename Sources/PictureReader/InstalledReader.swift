internal import POSIX

extension PictureReader {
    /// The program's path: beside the running program, as built, or where an installation puts it.
    static func installedPath() -> String? {
        guard let folder = RunningProgram.folder() else { return nil }
        return ["\(folder)/watchword-reader", "\(folder)/../libexec/watchword/watchword-reader"]
            .first(where: RunningProgram.canRun)
    }
}
