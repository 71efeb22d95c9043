import EnrolCommands

@main struct Program {
    static func main() { EnrolProgram.main() }
}
