import Commands

/// The program.
@main struct Program {
    static func main() { CommandLineProgram.main() }
}
