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
