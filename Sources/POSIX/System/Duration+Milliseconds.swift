extension Duration {
    /// The duration in whole milliseconds for `poll`, rounded up.
    ///
    /// It is 0 for a negative duration and `Int32.max` for a longer one. Rounding down would make a
    /// caller that waits for the last fraction of a millisecond spin.
    public var millisecondsRoundedUp: Int32 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        // More than `Int32` can hold; the product below could overflow.
        guard seconds < 1 << 32 else { return .max }
        return Int32(
            clamping: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
