extension AccessControl {
    /// These settings, each made at least as strict as in `other`.
    package func atLeast(_ other: AccessControl) -> AccessControl {
        let isShorter = reuse.seconds <= other.reuse.seconds
        return AccessControl(
            presence: presence.isPerUse ? presence : other.presence,
            onFailure: onFailure.atLeast(other.onFailure),
            reuse: isShorter ? reuse : other.reuse)
    }
}

extension AccessControl.OnFailure {
    /// The stricter one: a wipe, after the fewer failures.
    fileprivate func atLeast(_ other: Self) -> Self {
        switch (self, other) {
        case (.wipe(let own), .wipe(let others)): own.value <= others.value ? self : other
        case (.wipe, .lockOut): self
        case (.lockOut, _): other
        }
    }
}
