import ServerCommands

@main struct Program {
    @MainActor static func main() async { await ServerProgram.main() }
}
