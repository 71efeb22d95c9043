internal import WatchwordSystem

/// The two clocks by which the agent limits how long it holds a key.
package struct AgentClock: Hashable, Sendable {
    /// The time since the kernel started, including suspends; it cannot be set.
    package let sinceBoot: Duration
    /// The time since the kernel started, without suspends.
    package let awake: Duration

    package init(sinceBoot: Duration, awake: Duration) {
        self.sinceBoot = sinceBoot
        self.awake = awake
    }

    /// Reads the system's clocks.
    package static func now() -> AgentClock {
        AgentClock(sinceBoot: Moment.now.sinceStart, awake: Moment.awakeTime())
    }

    /// The time that the machine has spent suspended.
    var suspended: Duration { sinceBoot - awake }
}
