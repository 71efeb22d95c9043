/// The manual page in mdoc(7), made from the table of verbs.
enum ManualPage {
    /// The whole page.
    static var text: String {
        ([head] + verbs + [tail, exitStatus, end]).joined(separator: "\n")
    }

    private static let head = """
        .Dd November 21, 2026
        .Dt WATCHWORD 1
        .Os
        .Sh NAME
        .Nm watchword
        .Nd one-time passwords from an encrypted vault
        .Sh SYNOPSIS
        .Nm
        .Ar verb
        .Op Ar operand ...
        .Op Ar option ...
        .Sh DESCRIPTION
        .Nm
        keeps the keys of one-time passwords
        .Pq TOTP, HOTP
        and other small secrets in an encrypted file, the vault, and prints codes from them.
        It reads QR symbols from pictures, and draws them.
        .Pp
        Options may stand anywhere, as
        .Fl -name Ar value
        or
        .Fl -name Ns = Ns Ar value ;
        after
        .Fl -
        everything is an operand.
        Data go to standard output, words to standard error.
        .Pp
        No secret is ever an argument: it comes from a file, from standard input
        .Pq a file called Ql -
        or from the terminal, without echo.
        Before a secret is printed on a terminal, the terminal is asked.
        Files that hold secrets are written for their owner alone, and never over a file that is
        there without
        .Fl -force .
        .Pp
        .Ar NAME
        is the whole name of an entry,
        .Ql issuer:account
        or the account, or else a part of the name of one entry, whatever the case.
        When several entries match, they are listed on standard error, and nothing is done.
        .Pp
        These options go with every verb:
        """

    private static var verbs: [String] {
        options(Option.global) + [".Sh VERBS"] + Verb.allCases.flatMap(section)
    }

    private static func section(_ verb: Verb) -> [String] {
        let page = verb.page
        var lines = [".Ss \(verb.name) \(escaped(page.operands.usage))"]
        lines.append(escaped(page.summary.prefix(1).uppercased() + page.summary.dropFirst()) + ".")
        for paragraph in page.details { lines += [".Pp"] + sentences(of: paragraph).map(escaped) }
        if !page.options.isEmpty { lines += options(page.options) }
        lines += [".Bd -literal -offset indent"]
        lines += page.examples.map(escaped)
        return lines + [".Ed"]
    }

    private static func options(_ options: [Option]) -> [String] {
        var lines = [".Bl -tag -width Ds"]
        for option in options {
            let short = option.short.map { "Fl \($0) , " } ?? ""
            let value = option.placeholder.map { " Ar \(escaped($0))" } ?? ""
            lines.append(".It \(short)Fl -\(option.name)\(value)")
            lines.append(
                escaped(option.summary.prefix(1).uppercased() + option.summary.dropFirst()) + ".")
        }
        return lines + [".El"]
    }

    private static let tail = """
        .Sh ENVIRONMENT
        .Bl -tag -width WATCHWORD_VAULT
        .It Ev WATCHWORD_VAULT
        The vault, unless
        .Fl -vault
        names one.
        .It Ev XDG_DATA_HOME
        Where the vault is looked for otherwise; default
        .Pa ~/.local/share .
        .It Ev NO_COLOR
        Nothing is coloured.
        .El
        .Sh FILES
        .Bl -tag -width Ds
        .It Pa ~/.local/share/watchword/vault
        The vault.
        Beside it are its lock, the generation before it, the mark of the newest generation, and
        .Pa vault.attempts ,
        the failures that were counted.
        .It Pa /etc/pam.d/watchword
        What the system asks before an entry opens that asks at each use
        .Pq see Xr pam.d 5 .
        Where it is not installed, the passphrase is asked.
        .El
        """

    private static var exitStatus: String {
        let rows = ExitCode.allCases.flatMap { [".It \($0.rawValue)", escaped($0.meaning)] }
        return ([".Sh EXIT STATUS", ".Bl -tag -width Ds"] + rows + [".El"]).joined(separator: "\n")
    }

    private static let end = """
        .Sh SEE ALSO
        .Xr oathtool 1 ,
        .Xr zbarimg 1
        .Sh STANDARDS
        RFC 4226 (HOTP), RFC 6238 (TOTP), RFC 4648 (Base32).
        .Sh SECURITY CONSIDERATIONS
        A wrong passphrase is counted before the answer is known.
        After 5 in a row further tries wait 1, 5, 15, 30, then 60 minutes; the recovery key opens
        meanwhile, and ends the wait.
        An entry with
        .Fl -on-failure Cm wipe : Ns Ar N
        loses its secret at the
        .Ar N Ns th
        failure in a row.
        This holds off who has the keyboard, not who has a copy of the files: on a copy nothing is
        counted.
        The question that PAM asks is advisory: who controls the system, or runs programs as you,
        can do without it.
        .Pp
        Who can read this process's memory, or watch the keyboard, gets what the vault holds.
        A passphrase that can be guessed is no protection: the vault's file can be copied and
        tried elsewhere, at the cost that
        .Fl -scrypt-log-n
        sets.
        """

    /// A sentence a line, as mdoc wants it.
    private static func sentences(of paragraph: String) -> [String] {
        var sentences: [String] = []
        var sentence = ""
        for word in paragraph.split(separator: " ") {
            sentence += (sentence.isEmpty ? "" : " ") + word
            if word.hasSuffix(".") || word.hasSuffix("?") {
                sentences.append(sentence)
                sentence = ""
            }
        }
        return sentence.isEmpty ? sentences : sentences + [sentence]
    }

    /// `text` with what roff would take for a command made plain.
    private static func escaped(_ text: String) -> String {
        var plain = ""
        for character in text {
            switch character {
            case "\\": plain += "\\e"
            case "“": plain += "\\(lq"
            case "”": plain += "\\(rq"
            case "…": plain += "..."
            case "-": plain += "\\-"
            case "~": plain += "\\(ti"
            default: plain.append(character)
            }
        }
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
    }
}
