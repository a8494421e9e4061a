package import ErrandHTTP

extension LineParser {
    /// What happens to bytes that are not UTF-8.
    package enum InvalidUTF8: Sendable {
        /// The line is an error.
        case reject
        /// They are replaced by U+FFFD.
        case replace
    }

    /// Returns the next line as text and removes it from the input; nil if the input is used up.
    ///
    /// - Throws: ``RequestError/Code/undecodable`` for a line that is not UTF-8; the next call
    ///   returns the line after it. ``RequestError/Code/bodyTooLarge`` for a line above the limit.
    package mutating func nextText(
        in input: inout UnsafeRawBufferPointer, invalid: InvalidUTF8 = .reject
    ) throws(RequestError) -> String? {
        let number = lineNumber + 1
        return try next(in: &input) { line throws(RequestError) in
            try Self.text(of: line, number: number, invalid)
        }
    }

    /// Returns the last line as text if it has no terminator, after the end of the stream.
    package mutating func endText(
        invalid: InvalidUTF8 = .reject
    ) throws(RequestError) -> String? {
        let number = lineNumber + 1
        return try end { line throws(RequestError) in
            try Self.text(of: line, number: number, invalid)
        }
    }

    private static func text(
        of line: UnsafeRawBufferPointer, number: Int, _ invalid: InvalidUTF8
    ) throws(RequestError) -> String {
        switch invalid {
        case .replace: return String(decoding: line, as: UTF8.self)
        case .reject:
            // Validating any encoding is a generic function, which costs as much as the rest.
            if isASCII(line) { return String(decoding: line, as: UTF8.self) }
            if let text = String(validating: line, as: UTF8.self) { return text }
            throw RequestError(
                .undecodable, stage: .decode,
                "Line \(number) of the body is not valid UTF-8. Read the lines as bytes, or have "
                    + "invalid bytes replaced.")
        }
    }

    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        func word(_ index: Int) -> UInt64 {
            bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        }
        var index = 0
        while index + 32 <= bytes.count {
            let words = word(index) | word(index + 8) | word(index + 16) | word(index + 24)
            if words & 0x8080_8080_8080_8080 != 0 { return false }
            index += 32
        }
        while index < bytes.count {
            if bytes[index] >= 0x80 { return false }
            index += 1
        }
        return true
    }
}
