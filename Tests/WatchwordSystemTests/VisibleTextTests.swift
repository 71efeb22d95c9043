import Testing
import WatchwordSystem

@Suite struct VisibleTextTests {
    @Test(
        "an invisible character is escaped between Latin letters",
        arguments: [
            // Joiners, invisible marks, variation selectors.
            "\u{200D}", "\u{200C}", "\u{34F}", "\u{FE0E}", "\u{FE0F}", "\u{180B}", "\u{180F}",
            "\u{E0100}", "\u{E01EF}", "\u{AD}", "\u{2060}", "\u{FEFF}", "\u{200B}", "\u{2062}",
            // Letters that show nothing.
            "\u{3164}", "\u{115F}", "\u{1160}", "\u{FFA0}", "\u{17B4}", "\u{2800}", "\u{1D159}",
            // Characters that reverse the text direction.
            "\u{61C}", "\u{200E}", "\u{200F}", "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}",
            "\u{202E}", "\u{2066}", "\u{2067}", "\u{2068}", "\u{2069}",
            // Control characters, separators, private and unassigned characters.
            "\u{0}", "\u{1B}", "\u{7F}", "\u{9B}", "\u{2028}", "\u{2029}", "\u{1680}", "\u{2003}",
            "\u{205F}", "\u{E000}", "\u{F8FF}", "\u{100000}", "\u{378}", "\u{FFFE}", "\u{E0041}",
        ] as [Unicode.Scalar])
    func escapedForm(_ scalar: Unicode.Scalar) {
        let hidden = "a\(Character(scalar))b"
        let hexadecimal = String(scalar.value, radix: 16, uppercase: true)
        #expect(hidden.visibleOnTerminal == "a\\u{\(hexadecimal)}b")
        #expect(scalar.isInvisible)
    }

    @Test(
        "names in natural spelling are not changed",
        arguments: [
            "José Álvarez", "Jose\u{301}", "Zoë O'Brien", "Łukasz Żółć", "Đặng Thị Ngọc Thảo",
            "Ελευθερία", "Дмитрий Щёголев", "Σ Ω", "გიორგი", "Հայկ", "יוסף", "محمد", "مُحَمَّد",
            // Persian and Urdu separate letters that would otherwise join.
            "می\u{200C}خواهم", "علی\u{200C}اکبر", "नरेंद्र", "श्रीमान",
            // A virama with a joiner: Devanagari half forms, Malayalam chillus, Bengali ya-phalaa.
            "क्\u{200D}ष", "അവന്\u{200D}", "র্\u{200D}য", "क्\u{200C}ष",
            "ประยุทธ์", "မြန်မာ", "ភាសាខ្មែរ", "한국어 이름", "山田\u{3000}太郎", "李小龍", "ትግርኛ", "ᠮᠣᠩᠭᠣᠯ",
            "Mot de passe\u{A0}:", "café \u{2014} Ω≈ç√",
        ])
    func names(_ name: String) {
        #expect(name.visibleOnTerminal == name)
    }

    @Test(
        "emoji are not changed",
        arguments: [
            "😀", "👩‍💻", "👨‍👩‍👧‍👦", "❤️", "❤️‍🔥", "👍🏽", "👩🏽‍🚀", "🏳️‍🌈", "🇫🇷", "1️⃣", "#️⃣", "☺︎", "©️",
        ])
    func emoji(_ text: String) {
        #expect(text.visibleOnTerminal == text)
        #expect("a\(text)b".visibleOnTerminal == "a\(text)b")
    }

    @Test(
        "a joiner or selector without a visible effect is escaped",
        arguments: [
            ("😀\u{200D}", #"😀\u{200D}"#), ("\u{200D}😀", #"\u{200D}😀"#),
            ("😀\u{200D}a", #"😀\u{200D}a"#), ("❤\u{FE0F}\u{FE0F}", #"❤️\u{FE0F}"#),
            ("👩\u{200D}\u{200D}💻", #"👩\u{200D}\u{200D}💻"#), ("1\u{FE0F}", #"1\u{FE0F}"#),
            ("م\u{200C}a", #"م\u{200C}a"#), ("م\u{200D}م", #"م\u{200D}م"#),
            ("क\u{200D}ष", #"क\u{200D}ष"#), ("क्\u{200C}", #"क्\u{200C}"#),
            ("я\u{200C}я", #"я\u{200C}я"#), ("山\u{E0100}", #"山\u{E0100}"#),
        ])
    func withoutEffect(_ text: String, _ shown: String) {
        #expect(text.visibleOnTerminal == shown)
    }
}
