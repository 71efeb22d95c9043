internal import Agent

/// Holds the keys of unlocked vaults.
///
/// `watchword unlock` starts the agent, and the other commands connect to it.
@main struct Program {
    static func main() { AgentProgram.main() }
}
