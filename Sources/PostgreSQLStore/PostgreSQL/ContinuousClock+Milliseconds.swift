extension ContinuousClock.Instant {
    /// The milliseconds until then, rounded up; 0 when it is over.
    var millisecondsAhead: Int32 {
        let ahead = duration(to: .now)
        guard ahead < .zero else { return 0 }
        let (seconds, attoseconds) = (ahead * -1).components
        return Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
    }
}
