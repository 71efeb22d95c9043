internal import POSIX

extension PictureRefusal {
    /// What a reader's end says about the picture that it had in hand.
    init(ending: ChildProcess.Ending, peakMemory: Int) {
        let isLarge = peakMemory >= ReaderLoop.limits.addressSpace / 2
        self =
            switch ending {
            // Swift and the libraries crash when memory is refused, and the kernel kills when it has none
            // left to give. Which crash or kill was one of those is a guess.
            case .crashed where isLarge, .killed where isLarge: .tooMuchMemory
            case .crashed(let signal): .crashed(signal: signal)
            case .forbiddenCall: .forbiddenCall
            case .processorTimeSpent: .timedOut
            case .exited, .killed, .unknown: .noAnswer
            }
    }
}
