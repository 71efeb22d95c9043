extension Duration {
    /// Whole milliseconds, rounded up, as `poll` takes them: 0 for a negative duration, and `Int32.max` for one
    /// that is longer than they can count.
    ///
    /// Rounding down would make a caller that waits for the last fraction of a millisecond spin.
    public var millisecondsRoundedUp: Int32 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        // Longer than `Int32` can count; the product below could overflow.
        guard seconds < 1 << 32 else { return .max }
        return Int32(
            clamping: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
