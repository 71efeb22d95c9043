internal import POSIX

extension PictureReader {
    /// The program's path: beside the running program, as built, or where an installation puts it.
    static func installedPath() -> String? { RunningProgram.companion("watchword-reader") }
}
