/// A gate that stays closed until it is opened.
public actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Starts with a closed gate.
    public init() {}

    /// Waits until the gate is open.
    public func pass() async {
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Closes the gate for tasks that arrive later.
    public func close() { isOpen = false }

    /// Opens the gate, and lets every waiting task pass.
    public func open() {
        isOpen = true
        for one in waiting { one.resume() }
        waiting = []
    }
}
