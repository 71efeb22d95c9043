internal import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography

// Finds the parts of a text that the library refuses but ``JSONContent/any`` accepts.

extension Span<UInt8> {
    /// A copy in which U+FFFD replaces each escaped unpaired surrogate; `nil` if there is none.
    ///
    /// The replacement has the same length, so positions stay the same.
    func replacingLoneSurrogates() -> SecretBytes? {
        let lone = loneSurrogates
        guard !lone.isEmpty else { return nil }
        return SecretBytes(capacity: count) { output in
            var start = 0
            for place in lone {
                output.append(copying: extracting(start..<place))
                for byte in "\\ufffd".utf8 { output.append(byte) }
                start = place + "\\ufffd".utf8.count
            }
            output.append(copying: extracting(start...))
        }
    }

    /// The positions of escaped unpaired surrogates; a backslash occurs only in texts.
    private var loneSurrogates: [Int] {
        var found: [Int] = []
        var index = 0
        while index < count {
            guard self[index] == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            let unit = escapedUnit(at: index)
            if let unit, (0xD800...0xDBFF).contains(unit),
                let next = escapedUnit(at: index + 6), (0xDC00...0xDFFF).contains(next)
            {
                index += 12
                continue
            }
            if let unit, (0xD800...0xDFFF).contains(unit) { found.append(index) }
            index += 2
        }
        return found
    }

    /// The code unit of an escape with four hexadecimal digits at this position.
    private func escapedUnit(at start: Int) -> UInt32? {
        guard start + 6 <= count, self[start] == UInt8(ascii: "\\"),
            self[start + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt32 = 0
        for index in (start + 2)..<(start + 6) {
            guard let digit = self[index].hexDigitValue else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// The numbers outside texts, in order; numbers that are not whole or exceed 64 bits are
    /// ``JSONValue/otherNumber``.
    func numbers() -> [JSONValue] {
        var numbers: [JSONValue] = []
        var index = 0
        var isText = false
        while index < count {
            let byte = self[index]
            if isText {
                index += byte == UInt8(ascii: "\\") ? 2 : 1
                isText = byte != UInt8(ascii: "\"")
            } else if byte.isNumberCharacter, byte != UInt8(ascii: "e") {
                var end = index + 1
                while end < count, self[end].isNumberCharacter { end += 1 }
                numbers.append(extracting(index..<end).number)
                index = end
            } else if byte.isASCIILetter {
                // Skips `true`, `false` or `null`.
                while index < count, self[index].isASCIILetter { index += 1 }
            } else {
                isText = byte == UInt8(ascii: "\"")
                index += 1
            }
        }
        return numbers
    }

    private var number: JSONValue {
        // The longest number that fits, 2^64 - 1, has 20 digits.
        guard count <= 20 else { return .otherNumber }
        let text = String(decoding: [UInt8](copying: self), as: UTF8.self)
        if let whole = Int64(text) { return .number(whole) }
        if let whole = UInt64(text) { return .counter(whole) }
        return .otherNumber
    }
}

extension UInt8 {
    fileprivate var isNumberCharacter: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            || [
                UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"),
                UInt8(ascii: "E"),
            ].contains(self)
    }

    fileprivate var isASCIILetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}
