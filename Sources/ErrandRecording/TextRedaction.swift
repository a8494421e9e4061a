import ErrandHTTP

/// Replaces secrets in text: in JSON, in URLs, and in pairs of a name and a value, wherever they are.
///
/// The text is read once, by its bytes; percent-encoded values and texts within JSON strings are read again, up to a
/// limit of levels.
struct TextRedaction {
    let rules: RedactionRules
    fileprivate let level: Int

    /// Texts in texts, such as JSON in a string of JSON in a form.
    static let maximumLevel = 4
    /// The largest depth of JSON within another text.
    static let maximumDepth = 64

    init(_ rules: RedactionRules, level: Int = 0) {
        self.rules = rules
        self.level = level
    }

    /// What ends a value.
    enum Syntax {
        /// Form fields and queries: only `&`.
        case form
        /// Header fields and prose: also white space, quotes and angle brackets.
        case text

        fileprivate func ends(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "&"): true
            case 0...0x20, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"): self == .text
            default: false
            }
        }
    }

    /// A text with any content: JSON, a URL, a list of pairs, or prose.
    ///
    /// Text that begins like JSON, cannot be parsed and contains the name of a secret is replaced as a whole.
    func text(_ text: String) -> String {
        let own = rules.withoutSubstitutions(text)
        guard level < Self.maximumLevel else {
            return containsName(own) ? RedactionRules.placeholder : text
        }
        let first = own.utf8.first { !$0.isJSONSpace }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || first == UInt8(ascii: "\"") {
            if let document = JSONRedaction(rules, [], level: level + 1).document(Array(text.utf8))
            {
                return String(decoding: document, as: UTF8.self)
            }
            if first != UInt8(ascii: "\""), containsName(own) { return RedactionRules.placeholder }
        }
        return pairs(text, .text)
    }

    /// A text with the values of secret pairs replaced, and without the user info of its URLs.
    func pairs(_ text: String, _ syntax: Syntax) -> String {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "=")) || bytes.contains(UInt8(ascii: "@")) else {
            return text
        }
        var scan = PairScan(bytes: bytes, syntax: syntax, redaction: self)
        scan.run()
        guard scan.isChanged else { return text }
        return String(decoding: scan.result, as: UTF8.self)
    }

    /// Whether a text that cannot be parsed contains the name of a secret, or an escape that could hide one.
    func containsName(_ text: String) -> Bool { containsName(Array(text.utf8)) }

    func containsName(_ bytes: some Collection<UInt8>) -> Bool {
        var name: [UInt8] = []
        func isSecret() -> Bool {
            guard !name.isEmpty, name.count <= 1024 else { return !name.isEmpty }
            return rules.isSecret(name: FormText.decoded(Substring(decoding: name, as: UTF8.self)))
        }
        var isEscape = false
        for byte in bytes {
            if isEscape, byte == UInt8(ascii: "u") || byte == UInt8(ascii: "U") { return true }
            isEscape = byte == UInt8(ascii: "\\")
            if byte.isNameByte {
                name.append(byte)
            } else {
                if isSecret() { return true }
                name.removeAll(keepingCapacity: true)
            }
        }
        return isSecret()
    }

    /// The redacted form of a percent-encoded value; `nil` if it contains no secret.
    fileprivate func encoded(_ value: ArraySlice<UInt8>) -> [UInt8]? {
        let text = FormText.decoded(Substring(decoding: value, as: UTF8.self))
        let redacted = TextRedaction(rules, level: level + 1).text(text)
        guard !redacted.hasSameBytes(as: text) else { return nil }
        return Array(PercentEncoding.encoded(redacted.utf8, keeping: Self.plainBytes).utf8)
    }

    private static let plainBytes = ByteSet.alphanumeric.union("-._~")
}

/// One pass over the bytes of a text.
private struct PairScan {
    let bytes: [UInt8]
    let syntax: TextRedaction.Syntax
    let redaction: TextRedaction
    private(set) var result: [UInt8] = []

    /// The first byte that is not in the result.
    private var copied = 0
    private var place = 0
    /// The ends that were found last: no byte is searched twice.
    private var knownEnd = -1
    private var hasOpenQuote = false
    /// The end of the last value that was searched for escapes.
    private var decodedEnd = 0
    /// The values that were decoded; JSON may begin within a value.
    private var attempts = 0
    private static let maximumAttempts = 64

    var isChanged: Bool { copied > 0 }

    init(bytes: [UInt8], syntax: TextRedaction.Syntax, redaction: TextRedaction) {
        self.bytes = bytes
        self.syntax = syntax
        self.redaction = redaction
    }

    mutating func run() {
        var name: Int?
        while place < bytes.count {
            let byte = bytes[place]
            if byte == UInt8(ascii: "="), let start = name {
                name = nil
                readValue(name: bytes[start..<place])
            } else if byte == UInt8(ascii: ":"), bytes[place...].starts(with: "://".utf8) {
                name = nil
                readAuthority()
            } else {
                name = byte.isNameByte ? name ?? place : nil
                place += 1
            }
        }
        if isChanged { result += bytes[copied...] }
    }

    private mutating func readValue(name: ArraySlice<UInt8>) {
        place += 1
        let isQuoted = place < bytes.count && bytes[place] == UInt8(ascii: "\"") && syntax == .text
        let start = isQuoted ? place + 1 : place
        let end = isQuoted ? endOfQuote(from: start) : endOfValue(from: start)
        let value = bytes[start..<max(start, end)]
        let text = FormText.decoded(Substring(decoding: name, as: UTF8.self))
        if redaction.rules.isSecret(name: text) {
            place = max(start, end)
            let content = FormText.decoded(Substring(decoding: value, as: UTF8.self))
            guard !value.isEmpty, !redaction.rules.isSubstitution(content) else { return }
            replace(start..<place, by: Array(RedactionRules.placeholder.utf8))
        } else if start >= decodedEnd
            // Inner levels read each value once: attempts of several levels would multiply.
            || redaction.level == 0 && beginsLikeJSON(value) && attempts < Self.maximumAttempts
        {
            // The value is searched and decoded once, not again at each sign in it.
            decodedEnd = end
            guard beginsLikeJSON(value) || value.contains(UInt8(ascii: "%")) else { return }
            attempts += 1
            guard let redacted = redaction.encoded(value) else { return }
            place = end
            replace(start..<end, by: redacted)
        }
    }

    private func beginsLikeJSON(_ value: ArraySlice<UInt8>) -> Bool {
        value.first == UInt8(ascii: "{") || value.first == UInt8(ascii: "[")
    }

    /// Leaves out the user info of a URL.
    private mutating func readAuthority() {
        place += 3
        let start = place
        var last: Int?
        var end = place
        while end < bytes.count, !isEndOfAuthority(bytes[end]) {
            if bytes[end] == UInt8(ascii: "@") { last = end }
            end += 1
        }
        guard let last, redaction.rules.hidesUserInfo else { return }
        place = last + 1
        replace(start..<place, by: [])
    }

    private func isEndOfAuthority(_ byte: UInt8) -> Bool {
        byte <= 0x20 || "/?#\"<>\\".utf8.contains(byte)
    }

    private mutating func replace(_ range: Range<Int>, by replacement: [UInt8]) {
        result += bytes[copied..<range.lowerBound]
        result += replacement
        copied = range.upperBound
    }

    private mutating func endOfValue(from start: Int) -> Int {
        if start <= knownEnd { return knownEnd }
        knownEnd = bytes[start...].firstIndex(where: syntax.ends) ?? bytes.count
        return knownEnd
    }

    private mutating func endOfQuote(from start: Int) -> Int {
        guard !hasOpenQuote else { return bytes.count }
        var place = start
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        if place >= bytes.count { hasOpenQuote = true }
        return min(place, bytes.count)
    }
}

extension UInt8 {
    /// A letter, a digit, or another byte of names of arguments, also percent-encoded.
    fileprivate var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...0xFF:
            true
        default: "-_.%[]+~$*".utf8.contains(self)
        }
    }

    var isJSONSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
