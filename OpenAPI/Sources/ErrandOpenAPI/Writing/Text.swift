/// Lines of Swift.
struct Text {
    private(set) var lines: [String] = []
    private var indentation = 0

    /// The longest line of code.
    static let width = 100

    mutating func add(_ line: String) {
        lines.append(line.isEmpty ? "" : String(repeating: " ", count: 4 * indentation) + line)
    }

    /// Adds an empty line, unless the last one is empty or begins a block.
    mutating func separate() {
        guard let last = lines.last, !last.isEmpty, !last.hasSuffix("{") else { return }
        lines.append("")
    }

    /// Adds a block in braces.
    mutating func block(_ head: String, _ body: (inout Text) -> Void) {
        add(head + " {")
        indentation += 1
        body(&self)
        indentation -= 1
        add("}")
    }

    /// Adds a property or a function with one expression, on one line if that is short enough.
    mutating func getter(_ head: String, _ expression: String) {
        let line = "\(head) { \(expression) }"
        // The formatter leaves one column free.
        if fits(line + " ") {
            add(line)
        } else {
            block(head) { $0.add(expression) }
        }
    }

    /// Adds a type with its superclass and protocols, and a block.
    mutating func type(_ head: String, _ parents: [String], _ body: (inout Text) -> Void) {
        let line = "\(head): \(parents.joined(separator: ", "))"
        if fits(line + " {") {
            block(line, body)
            return
        }
        if !fits(head + ":"), let space = head.lastIndex(of: " ") {
            add(String(head[..<space]))
            indented { text in
                text.add(String(head[head.index(after: space)...]) + ":")
                text.indented { $0.add(parents.joined(separator: ", ")) }
            }
            add("{")
            indented(body)
            add("}")
            return
        }
        var current = head + ":"
        for (position, parent) in parents.enumerated() {
            let word = " " + parent + (position + 1 < parents.count ? "," : "")
            let isFirstLine = current.hasPrefix(head)
            if (isFirstLine
                ? fits(current + word) : 4 + 4 * indentation + (current + word).count <= Self.width)
            {
                current += word
                continue
            }
            if isFirstLine { add(current) } else { indented { $0.add(current) } }
            current = String(word.dropFirst())
        }
        if current.hasPrefix(head) { add(current) } else { indented { $0.add(current) } }
        add("{")
        indented(body)
        add("}")
    }

    /// Adds two parts, the second on a line of its own if both are long: after a colon or an equals sign.
    mutating func pair(_ left: String, _ right: String) {
        if fits("\(left) \(right)") {
            add("\(left) \(right)")
        } else {
            add(left)
            indented { text in
                guard !text.fits(right), let dot = right.firstIndex(of: ".") else {
                    return text.add(right)
                }
                text.add(String(right[..<dot]))
                text.indented { $0.add(String(right[dot...])) }
            }
        }
    }

    /// Adds an assignment; a long one that ends with a closure has it on lines of its own.
    mutating func assign(_ name: String, _ value: String) {
        guard !fits("\(name) = \(value) "), value.contains(".map { "), value.hasSuffix(" }") else {
            return pair("\(name) =", value)
        }
        addBroken("\(name) = \(value)")
    }

    /// Adds a call or a function, with its parameters on lines of their own if it is long.
    mutating func list(_ head: String, _ items: [String], _ tail: String) {
        let line = head + items.joined(separator: ", ") + tail
        if fits(line) || items.isEmpty {
            add(line)
            return
        }
        add(head)
        // A call ends behind its last argument if there is room, a function and a switch on a line of their own.
        let isShort = items.last.map { fits("    " + $0 + tail) } ?? true
        let isCall = !tail.hasSuffix("{") && isShort
        indentation += 1
        for (position, item) in items.enumerated() {
            addClosure(item, position + 1 < items.count ? "," : isCall ? tail : "")
        }
        indentation -= 1
        if !isCall { add(tail) }
    }

    /// Adds an expression and what follows it; a closure at its end is on lines of its own if they are long.
    mutating func addClosure(_ expression: String, _ tail: String = "") {
        guard !fits(expression + tail), expression.hasSuffix(" }") else {
            return add(expression + tail)
        }
        addBroken(expression, tail)
    }

    private mutating func addBroken(_ expression: String, _ tail: String = "") {
        guard let start = expression.firstRange(of: " { ") else { return add(expression + tail) }
        add(expression[..<start.lowerBound] + " {")
        indented { $0.add(String(expression[start.upperBound...].dropLast(2))) }
        add("}" + tail)
    }

    mutating func indented(_ body: (inout Text) -> Void) {
        indentation += 1
        body(&self)
        indentation -= 1
    }

    func fits(_ line: String) -> Bool { 4 * indentation + line.count <= Self.width }

    var text: String { lines.joined(separator: "\n") + "\n" }

    // MARK: - Documentation

    /// Adds a documentation comment: a line that ends with a period, and the rest.
    mutating func document(_ text: String?, fallback: String? = nil) {
        let source = Self.normalized(text) ?? fallback?.filter { !$0.isControl }
        guard let source, !source.isEmpty else { return }
        let (summary, rest) = Self.split(source)
        let width = Self.width - 4 * indentation - 4
        for line in Self.wrapped(summary, width: width) { add("/// " + line) }
        guard !rest.isEmpty else { return }
        add("///")
        for line in Self.wrapped(rest, width: width) {
            add(line.isEmpty ? "///" : "/// " + line)
        }
    }

    /// Text without control characters, and without spaces around; `nil` if nothing is left.
    private static func normalized(_ text: String?) -> String? {
        guard let text else { return nil }
        let clean = markdown(text).replacing("\r\n", with: "\n").replacing("\r", with: "\n")
            .replacing("\t", with: " ").filter { $0 == "\n" || !$0.isControl }
            .trimmingSpaces
        return clean.isEmpty ? nil : clean
    }

    private static let marks: [(tag: String, mark: String)] = [
        ("<p>", ""), ("</p>", "\n\n"), ("<br>", "\n"), ("<br/>", "\n"), ("<br />", "\n"),
        ("<code>", "`"), ("</code>", "`"), ("<b>", "**"), ("</b>", "**"), ("<strong>", "**"),
        ("</strong>", "**"), ("<em>", "*"), ("</em>", "*"), ("<ul>", "\n\n"), ("</ul>", "\n\n"),
        ("<li>", "- "), ("</li>", "\n"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""),
        ("&amp;", "&"),
    ]

    /// Markdown of a text that has paragraphs of HTML.
    private static func markdown(_ text: String) -> String {
        guard text.contains("</p>") || text.contains("<br") else { return text }
        let links = text.replacing(/<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/) {
            "[\($0.output.2)](\($0.output.1))"
        }
        return marks.reduce(links) { $0.replacing($1.tag, with: $1.mark) }
    }

    /// The first sentence, and the text after it.
    private static func split(_ text: String) -> (summary: String, rest: String) {
        var paragraph: Substring
        var rest: Substring
        if let end = text.range(of: "\n\n") {
            paragraph = text[..<end.lowerBound]
            rest = text[end.upperBound...]
        } else {
            paragraph = Substring(text)
            rest = ""
        }
        // A list, a table or code is no sentence.
        let lines = paragraph.split(separator: "\n", omittingEmptySubsequences: false)
        if let position = lines.indices.dropFirst().first(where: { isStructured(lines[$0]) }) {
            rest = Substring(
                lines[position...].joined(separator: "\n") + (rest.isEmpty ? "" : "\n\n" + rest))
            paragraph = Substring(lines[..<position].joined(separator: "\n"))
        }
        let sentence = paragraph.split(separator: "\n").map { String($0).trimmingSpaces }
            .joined(separator: " ")
        var summary = sentence
        var tail = ""
        if let end = endOfSentence(sentence) {
            summary = String(sentence[..<end])
            tail = String(sentence[end...]).trimmingSpaces
        }
        summary = summary.trimmingSpaces
        while let last = summary.last, ":,;".contains(last) { summary.removeLast() }
        while summary.hasPrefix("#") || summary.hasPrefix("-")
            || summary.hasPrefix("*") && !summary.hasPrefix("**")
        {
            summary = String(summary.dropFirst()).trimmingSpaces
        }
        if summary.isEmpty { summary = "No description" }
        if summary.last(where: { !isMark($0) }) != "." { summary += "." }
        let all = [tail, String(rest).trimmingSpaces].filter { !$0.isEmpty }
        return (summary, all.joined(separator: "\n\n"))
    }

    private static func endOfSentence(_ text: String) -> String.Index? {
        var index = text.startIndex
        while index < text.endIndex {
            let next = text.index(after: index)
            if ".!?".contains(text[index]) {
                // A sentence in bold type ends behind its marks.
                let end = text[next...].firstIndex { !isMark($0) } ?? text.endIndex
                if end < text.endIndex, text[end].isWhitespace { return end }
            }
            index = next
        }
        return nil
    }

    private static func isMark(_ character: Character) -> Bool {
        character == "*" || character == "_"
    }

    private static func isStructured(_ line: Substring) -> Bool {
        let text = line.drop(while: \.isWhitespace)
        return text.hasPrefix("- ") || text.hasPrefix("* ") || text.hasPrefix("#")
            || text.hasPrefix("|") || text.hasPrefix("```") || text.hasPrefix(">")
            || text.prefix(3).contains(". ") && text.first?.isNumber == true
    }

    /// The lines of a text, each paragraph on one line; lists, tables and code stay as they are.
    private static func paragraphs(_ text: String) -> [String] {
        var result: [String] = []
        var isCode = false
        var isOpen = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let trimmed = String(line).trimmingSpaces
            if trimmed.hasPrefix("```") { isCode.toggle() }
            let isPlain =
                !isCode && !trimmed.isEmpty && !trimmed.hasPrefix("```") && !line.hasPrefix(" ")
                && !isStructured(line) && !trimmed.hasPrefix("<")
            if isPlain, isOpen, let last = result.last {
                result[result.count - 1] = last + " " + trimmed
            } else {
                result.append(String(line))
            }
            // Two spaces at the end break a line.
            isOpen = isPlain && !line.hasSuffix("  ")
        }
        return result
    }

    /// Lines that are short enough; code blocks and tables stay as they are.
    private static func wrapped(_ text: String, width: Int) -> [String] {
        var result: [String] = []
        var isCode = false
        for line in paragraphs(text) {
            var line = line
            while line.last?.isWhitespace == true { line.removeLast() }
            let trimmed = line.trimmingSpaces
            if trimmed.hasPrefix("```") { isCode.toggle() }
            if isCode || line.count <= width || trimmed.hasPrefix("|") {
                if line.isEmpty, result.last?.isEmpty ?? true { continue }
                result.append(line)
                continue
            }
            let margin = String(line.prefix { $0 == " " })
            var current = margin
            for word in trimmed.split(separator: " ") {
                // A sign at the start of a line would begin a list.
                let isSign = word.count == 1 && !(word.first?.isLetter ?? true)
                if !isSign, current.count > margin.count, current.count + 1 + word.count > width {
                    result.append(current)
                    current = margin
                }
                current += current.count > margin.count ? " \(word)" : String(word)
            }
            result.append(current)
        }
        while result.last?.isEmpty == true { result.removeLast() }
        if isCode { result.append("```") }
        return result
    }

    // MARK: - Literals

    /// Text as a string literal.
    static func literal(_ text: String) -> String { "\"\(escaped(text))\"" }

    /// Text within a string literal.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case let control where control.value < 0x20 || control.value == 0x7f:
                result += "\\u{\(String(control.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension Character {
    var isControl: Bool {
        unicodeScalars.allSatisfy { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) }
    }
}

extension String {
    fileprivate func range(of text: String) -> Range<String.Index>? { firstRange(of: text) }
}
