import Cryptography
import Verification

/// The marks in what an earlier `audit verify` printed.
enum Checkpoints {
    /// Far more than an audit prints.
    private static let limit = 1 << 20

    /// Reads every line that is a mark, and passes over the others.
    static func read(_ path: String) throws(ServerFailure) -> [ChainMark] {
        let bytes = try InputBytes.of(path, limit: limit)
        let text = bytes.withBytes { bytes in
            String(validating: [UInt8](copying: bytes), as: UTF8.self)
        }
        var marks: [ChainMark] = []
        for line in (text ?? "").split(whereSeparator: \.isNewline)
        where line.hasPrefix(ChainMark.textPrefix) {
            guard let mark = ChainMark(text: String(line)) else { throw .noMarks(path) }
            marks.append(mark)
        }
        guard !marks.isEmpty else { throw .noMarks(path) }
        return marks
    }
}
