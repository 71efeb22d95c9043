internal import OneTimePassword
internal import QRDrawing
internal import WatchwordCryptography
internal import WatchwordSystem

/// Writes a page for printing, with a QR code and the text of each entry.
///
/// The page is HTML because every browser prints it on any paper and has fonts for any script.
/// `import` reads the `<code>` elements, and photographs of the QR codes.
enum SheetWriting {
    /// - Parameter now: Unix seconds, for the date in the heading.
    static func document(
        _ entries: [ExportedEntry], now: Int64
    ) throws(QRDrawingError) -> SecretBytes {
        let count = entries.count == 1 ? "1 entry" : "\(entries.count) entries"
        let date = UTCTime(unixTime: now).text.prefix { $0 != "T" }
        var page = SecretText()
        page.append(
            """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="generator" content="watchword">
            <title>Watchword: \(count), \(date)</title>
            <style>\(style)</style>
            </head>
            <body>
            <header>
            <h1>Watchword: \(count), \(date)</h1>
            <p>Whoever reads this sheet can compute these codes: keep it locked away, and delete \
            the file. To restore the entries, run <b>watchword import</b> with this file, or with \
            photographs or scans of the QR codes.</p>
            </header>

            """)
        for entry in entries { try append(entry, to: &page) }
        page.append("</body>\n</html>\n")
        return page.bytes
    }

    private static let style = """

        @page { margin: 14mm }
        body { font: 10pt/1.35 sans-serif; color: #000; background: #fff; max-width: 190mm; \
        margin: 0 auto }
        h1 { font-size: 14pt; margin: 0 0 1mm }
        header { border-bottom: .5mm solid #000; padding-bottom: 2mm }
        section { display: flex; gap: 4mm; align-items: center; break-inside: avoid; \
        border-bottom: .2mm solid #888; padding: 2mm 0 }
        svg { width: 42mm; height: 42mm; flex: none }
        section div { min-width: 0 }
        h2 { font-size: 12pt; margin: 0; overflow-wrap: anywhere }
        p { margin: .6mm 0; overflow-wrap: anywhere }
        .note { white-space: pre-wrap }
        .key { font: 11pt/1.3 monospace; word-spacing: .4ch }
        code { font: 6.5pt/1.25 monospace; color: #444; word-break: break-all }

        """

    private static func append(
        _ entry: ExportedEntry, to page: inout SecretText
    ) throws(QRDrawingError) {
        let uri = KeyURIWriting.uri(of: entry)
        page.append("<section>\n")
        if uri.count <= ErrorCorrection.low.capacity {
            page.append(try symbol(of: uri).svgElement())
        }
        page.append("\n<div>\n<h2>\(escaped(heading(of: entry)))</h2>\n")
        page.append("<p>\(escaped(parameters(of: entry.content)))</p>\n")
        if !entry.tags.isEmpty {
            page.append("<p>Tags: \(escaped(entry.tags.joined(separator: ", ")))</p>\n")
        }
        if !entry.note.isEmpty {
            page.append("<p class=\"note\">\(escapedLines(entry.note))</p>\n")
        }
        page.append("<p class=\"key\">")
        page.append(entry.content.keyInGroups)
        if case .notComputed(let code) = entry.content, let pin = code.pin {
            page.append("<br>PIN ")
            page.append(escaped(pin))
        }
        page.append("</p>\n<p><code>")
        page.append(escaped(uri))
        page.append("</code></p>\n</div>\n</section>\n")
    }

    /// Uses less error correction for a text that exceeds the capacity at the medium level.
    private static func symbol(of uri: SecretBytes) throws(QRDrawingError) -> Symbol {
        let correction =
            uri.count <= ErrorCorrection.medium.capacity ? ErrorCorrection.medium : .low
        return try uri.withBytes { text throws(QRDrawingError) in
            try Symbol(encoding: text, correction: correction)
        }
    }

    private static func heading(of entry: ExportedEntry) -> String {
        let names = [entry.issuer, entry.account].filter { !$0.isEmpty }
        return names.isEmpty ? "(no name)" : names.joined(separator: ": ")
    }

    /// The parameters that the codes depend on, besides the key.
    private static func parameters(of content: ExportedEntry.Content) -> String {
        switch content {
        case .notComputed(let code):
            return code.kind == .yandex ? "Yandex" : "Mobile-OTP"
        case .oneTimePassword(let credential):
            var parts = [
                credential.algorithm.rawValue, "\(credential.style.length) digits",
            ]
            switch credential.movingFactor {
            case .time(let step):
                parts.insert(credential.style == .steam ? "Steam" : "TOTP", at: 0)
                parts.append("\(step.period) s")
                if step.start != 0 { parts.append("start \(step.start)") }
            case .counter(let counter):
                parts.insert("HOTP", at: 0)
                parts.append("counter \(counter) at the time of printing")
            }
            return parts.joined(separator: ", ")
        }
    }
}

extension SheetWriting {
    /// The text for HTML, with control characters and invisible characters made visible.
    private static func escaped(_ text: String) -> String {
        var html = ""
        for character in text.visibleOnTerminal.unicodeScalars {
            if let entity = entity(for: character.value) {
                html += entity
            } else {
                html.unicodeScalars.append(character)
            }
        }
        return html
    }

    /// A text of several lines for HTML; each line is escaped separately.
    private static func escapedLines(_ text: String) -> String {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .map { escaped(String($0)) }.joined(separator: "\n")
    }

    /// A secret for HTML; its control characters, if any, are left as they are.
    private static func escaped(_ secret: SecretBytes) -> SecretBytes {
        secret.withBytes { bytes in
            SecretBytes(capacity: 6 * bytes.count) { output in
                for index in bytes.indices {
                    if let entity = entity(for: UInt32(bytes[index])) {
                        for byte in entity.utf8 { output.append(byte) }
                    } else {
                        output.append(bytes[index])
                    }
                }
            }
        }
    }

    private static func entity(for character: UInt32) -> String? {
        switch character {
        case 0x26: "&amp;"
        case 0x3C: "&lt;"
        case 0x3E: "&gt;"
        case 0x22: "&quot;"
        default: nil
        }
    }
}

extension ExportedEntry.Content {
    /// The key in groups of four characters, as sites print it.
    fileprivate var keyInGroups: SecretBytes {
        let text =
            switch self {
            case .oneTimePassword(let credential): Base32.encode(credential.key)
            case .notComputed(let code):
                code.kind == .motp ? code.secret : Base32.encode(code.secret)
            }
        return text.withBytes { text in
            SecretBytes(capacity: text.count + text.count / 4) { output in
                for index in text.indices {
                    if index > 0, index.isMultiple(of: 4) { output.append(UInt8(ascii: " ")) }
                    output.append(text[index])
                }
            }
        }
    }
}
