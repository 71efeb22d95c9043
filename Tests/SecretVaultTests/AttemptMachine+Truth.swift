extension AttemptMachine {
    /// The actual events for one subject since the last recorded success, which the counts must
    /// reflect.
    struct Truth: Hashable {
        var begun: UInt64 = 0
        /// Attempts begun after the last success was recorded, which must all be counted.
        var owed: UInt64 = 0
        /// Whether a wait may be over because time has passed or an attempt was withdrawn.
        var mayHaveWaited = false
        var checked: UInt64 = 0
        var told: UInt64 = 0
    }
}

extension AttemptMachine.Program {
    /// Whether the record's check refused the program, which has not yet reported the refusal.
    var isRefusedAtRecord: Bool {
        switch self {
        case .answered(.record, .no, _, _), .refused(.record),
            .wiping(.record, _, isRefused: true):
            true
        default: false
        }
    }
}
