public import POSIX

/// Why no picture can be read at all.
public enum PictureReaderFailure: Error, Hashable, Sendable {
    /// The program is neither beside the running one nor where it is installed.
    case notFound
    /// The program could not be started.
    case cannotStart(SystemCallFailure)
    /// The program ended, or fell silent, before it was ready; a library may be missing.
    case diedAtStart(ChildProcess.Ending)
    /// The program could not give up its rights, so it refused to read strangers' pictures.
    ///
    /// The step that failed is named: `seccomp_load` where the kernel or a container has no seccomp.
    case notConfined(SystemCallFailure)
    /// The program is of another version than this one.
    case otherVersion
    /// A call of our own failed: no more memory, no more descriptors.
    case system(SystemCallFailure)
}
