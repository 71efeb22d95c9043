internal import POSIX

extension PictureRefusal {
    /// The reason why a picture was refused, derived from how its reader ended.
    init(ending: ChildProcess.Ending, peakMemory: Int) {
        let isLarge = peakMemory >= ReaderLoop.limits.addressSpace / 2
        self =
            switch ending {
            // Swift and the libraries crash when an allocation fails, and the kernel kills when it
            // runs out of memory. Whether a crash or kill was one of those is a guess.
            case .crashed where isLarge, .killed where isLarge: .tooMuchMemory
            case .crashed(let signal): .crashed(signal: signal)
            case .forbiddenCall: .forbiddenCall
            case .processorTimeSpent: .timedOut
            case .exited, .killed, .unknown: .noAnswer
            }
    }
}
