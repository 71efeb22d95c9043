import Pictures
import WatchwordCryptography
import WatchwordSystem

/// The contents of files: images are read in one run of the sandboxed reader, and texts are only
/// detected.
struct PictureTexts {
    enum Content {
        /// A text, which is read later, so that many large texts do not have to fit in memory
        /// together.
        case text
        case refused(InputFileError)
        case symbols([SecretBytes])
        case noSymbols(PictureRefusal)
    }

    private var contents: [Int: Content] = [:]

    /// Reads every file in `found`.
    ///
    /// - Parameter readsPipes: Whether pipes are read too, as pictures.
    init(of found: [PathWalk.Found], readsPipes: Bool, progress: (Int, Int) -> Void) throws {
        var pictures: [(index: Int, path: String)] = []
        for (index, item) in found.enumerated() {
            switch item {
            case .file(let path):
                do {
                    switch try FileContent.of(path) {
                    case .text: contents[index] = .text
                    case .picture: pictures.append((index, path))
                    }
                } catch {
                    contents[index] = .refused(error)
                }
            case .pipe(let path) where readsPipes: pictures.append((index, path))
            case .pipe, .refused, .symbolicLink: break
            }
        }
        try read(pictures, progress: progress)
    }

    /// The content of the file at `index` of the walk.
    func content(at index: Int) -> Content { contents[index] ?? .refused(.missing) }

    private mutating func read(
        _ pictures: [(index: Int, path: String)], progress: (Int, Int) -> Void
    ) throws {
        guard !pictures.isEmpty else { return }
        var symbols: [SecretBytes] = []
        var read: [Int: Content] = [:]
        try CommandFailure.naming("watchword-reader") {
            try ReaderPool().read(pictures.map(\.path)) { _, bytes in
                symbols.append(SecretBytes(copying: bytes))
            } finished: { position, outcome in
                switch outcome {
                case .symbols: read[pictures[position].index] = .symbols(symbols)
                case .refused(let refusal): read[pictures[position].index] = .noSymbols(refusal)
                }
                symbols = []
                progress(position + 1, pictures.count)
            }
        }
        contents.merge(read) { _, new in new }
    }
}
