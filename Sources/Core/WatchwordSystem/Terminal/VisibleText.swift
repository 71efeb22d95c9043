extension String {
    /// The text made safe for a terminal: control characters and invisible characters are escaped
    /// in the form `\u{202E}`.
    public var visibleOnTerminal: String {
        // A list can have ten thousand names, and nearly all of them are plain ASCII.
        if utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return self }
        var visible = ""
        var reader = VisibleScalars()
        for scalar in unicodeScalars {
            if let (scalar, isVisible) = reader.next(scalar) {
                visible.append(scalar, isVisible: isVisible)
            }
        }
        if let (scalar, isVisible) = reader.next(nil) {
            visible.append(scalar, isVisible: isVisible)
        }
        return visible
    }

    private mutating func append(_ scalar: Unicode.Scalar, isVisible: Bool) {
        if isVisible { unicodeScalars.append(scalar) } else { self += scalar.escapedForm }
    }
}

/// Decides whether each scalar of a text is shown or escaped.
///
/// Most scalars are decided on their own (``Swift/Unicode/Scalar/isInvisible``). Joiners and
/// variation selectors are kept where they have a visible effect: in an emoji sequence (UTS 51),
/// after a virama, and for the non-joiner between letters that join (UAX 31, section 2.3).
/// Elsewhere, for example between Latin letters, they could only be used to imitate another name.
public struct VisibleScalars {
    /// The kind of scalar or sequence that the text ends with so far.
    private enum Context { case other, emoji, styledEmoji, keycap, virama, joiningLetter }

    private var context = Context.other
    private var held: Unicode.Scalar?

    /// Starts at the beginning of a text.
    public init() {}

    /// Adds the next scalar, or `nil` at the end, and returns the decision for the previous one.
    public mutating func next(
        _ following: Unicode.Scalar?
    ) -> (scalar: Unicode.Scalar, isVisible: Bool)? {
        defer { held = following }
        guard let scalar = held else { return nil }
        let isVisible = isVisible(scalar, before: following)
        context = isVisible ? contextAfter(scalar) : .other
        return (scalar, isVisible)
    }

    private func isVisible(_ scalar: Unicode.Scalar, before next: Unicode.Scalar?) -> Bool {
        switch (scalar.value, context) {
        case (0x200D, .emoji), (0x200D, .styledEmoji): next?.isEmoji ?? false
        // A half form, or a letter without its vowel.
        case (0x200D, .virama): true
        case (0x200C, .virama): next?.properties.isAlphabetic ?? false
        case (0x200C, .joiningLetter): next?.isJoiningLetter ?? false
        case (0xFE0E, .emoji), (0xFE0F, .emoji): true
        case (0xFE0F, .keycap): next?.value == 0x20E3
        default: !scalar.isInvisible
        }
    }

    private func contextAfter(_ scalar: Unicode.Scalar) -> Context {
        switch scalar.value {
        // A joiner after a joiner has no effect.
        case 0x200C, 0x200D: .other
        // A second selector has no effect either.
        case 0xFE0E, 0xFE0F: .styledEmoji
        case 0x23, 0x2A, 0x30...0x39: .keycap
        case _ where scalar.isEmoji: .emoji
        case _ where scalar.properties.canonicalCombiningClass == .virama: .virama
        case _ where scalar.isJoiningLetter: .joiningLetter
        // Vowel signs are above or below a letter and do not affect joining.
        case _ where scalar.properties.generalCategory == .nonspacingMark: context
        default: .other
        }
    }
}

extension Unicode.Scalar {
    /// Whether the scalar controls a terminal, is invisible, or looks like a space without being
    /// one.
    ///
    /// These are control and format characters (ESC, the bidirectional overrides), separators,
    /// default-ignorable characters (joiners, variation selectors, fillers), and private or
    /// unassigned characters. ``VisibleScalars`` handles joiners and variation selectors that
    /// affect their neighbours.
    public var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .privateUse, .unassigned, .surrogate, .lineSeparator,
            .paragraphSeparator:
            true
        case .spaceSeparator: !Self.spaces.contains(value)
        default: properties.isDefaultIgnorableCodePoint || Self.blanks.contains(value)
        }
    }

    /// The space, the two no-break spaces (French uses them before a colon), and the wide space of
    /// East Asian scripts.
    private static let spaces: Set<UInt32> = [0x20, 0xA0, 0x202F, 0x3000]
    /// Characters that have a name but show nothing: the Braille pattern without dots, the musical
    /// null note head, and the blanks of Egyptian hieroglyphs and of the Khitan small script.
    private static let blanks: Set<UInt32> = [0x2800, 0x1D159, 0x13441, 0x13442, 0x16FE4]

    /// The escaped form: `\u{202E}`.
    public var escapedForm: String { "\\u{\(String(value, radix: 16, uppercase: true))}" }

    /// Whether the scalar is an emoji on its own, excluding digits and other ASCII.
    fileprivate var isEmoji: Bool { value >= 0xA9 && properties.isEmoji }

    /// Whether the scalar's shape depends on its neighbours, as with Arabic letters.
    fileprivate var isJoiningLetter: Bool {
        switch value {
        case 0x0620...0x074F, 0x0750...0x077F, 0x07CA...0x07EA, 0x0840...0x08FF, 0x1820...0x18AA,
            0xA840...0xA871:
            properties.isAlphabetic && properties.generalCategory != .nonspacingMark
        default: false
        }
    }
}
