import Agent
import Glibc

/// Works like `watchword-agent`, but a test controls it with files beside the vault: if `suspended`
/// exists, the machine appears to have been suspended for an hour; if `impatient` exists, the agent
/// gives up a TPM that does not answer within half a second.
@main struct Program {
    static func main() {
        let folder = CommandLine.arguments.last ?? ""
        AgentProgram.main(
            AgentTiming {
                let now = AgentClock.now()
                guard exists("\(folder)/suspended") else { return now }
                return AgentClock(sinceBoot: now.sinceBoot + .seconds(3600), awake: now.awake)
            } deviceTimeout: {
                exists("\(folder)/impatient") ? .milliseconds(500) : .seconds(60)
            })
    }

    private static func exists(_ file: String) -> Bool { unsafe access(file, F_OK) == 0 }
}
