public import POSIX

/// Why no picture can be read at all.
public enum PictureReaderFailure: Error, Hashable, Sendable {
    /// The program is neither beside the running one nor where an installation puts it.
    case notFound
    /// The program could not be started.
    case cannotStart(SystemCallFailure)
    /// The program ended, or timed out, before it was ready; a library may be missing.
    case diedAtStart(ChildProcess.Ending)
    /// The program could not confine itself, so it refused to read untrusted pictures.
    ///
    /// The failed step is named: `seccomp_load` if the kernel or a container has no seccomp.
    case notConfined(SystemCallFailure)
    /// The program has a different version.
    case otherVersion
    /// A system call in this process failed: no memory or no descriptors are left.
    case system(SystemCallFailure)
}
