import Commands

/// The entry point of `watchword`.
@main struct Program {
    static func main() { CommandLineProgram.main() }
}
