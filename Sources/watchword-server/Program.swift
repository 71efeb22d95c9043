import ServerCommands

/// The program.
@main struct Program {
    @MainActor static func main() async { await ServerProgram.main() }
}
