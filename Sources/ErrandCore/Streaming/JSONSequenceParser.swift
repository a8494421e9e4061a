package import ErrandHTTP
package import ErrandJSON
import ErrandSystem

/// Separates the texts of a JSON text sequence (RFC 7464, `application/json-seq`).
///
/// A text is delivered at the LF after its value, or if there is none at the next RS or the end of
/// the stream. Texts that are malformed or truncated are failures, and the sequence continues after
/// them (§2.3). The caller pulls the texts, as from ``LineParser``. The memory is bounded by the
/// maximum size of a text.
package struct JSONSequenceParser: Sendable {
    private enum Phase {
        /// Before the first RS.
        case start
        case text
        /// After a delivered text: only white space can follow until the next RS.
        case delivered
        /// After a failure: everything until the next RS is ignored.
        case failed
    }

    private enum Found {
        case needsInput
        /// A text in the input.
        case input(UnsafeRawBufferPointer)
        /// A text in `pending`.
        case pending
        case failure(RequestError)
    }

    private static let separator: UInt8 = 0x1E

    private let maximumTextBytes: Int
    private let maximumDepth: Int
    private var phase = Phase.start
    private var tokenizer: JSONTokenizer
    /// Whether the value is a number or literal, which only white space ends (§2.4).
    private var needsWhiteSpace = false
    /// The start of an incomplete text.
    private var pending: [UInt8] = []
    private var fault: RequestError?
    /// The number of bytes that were removed from the inputs.
    private var offset: Int64 = 0
    /// The number of the last text that was delivered or failed, counted from 1.
    package private(set) var textNumber = 0

    /// Creates a parser.
    package init(maximumTextBytes: Int = 1 << 20, maximumDepth: Int = 512) {
        self.maximumTextBytes = max(0, maximumTextBytes)
        self.maximumDepth = maximumDepth
        tokenizer = JSONTokenizer(maximumDepth: maximumDepth, skipsByteOrderMark: false)
    }

    /// Passes the next text to a closure and removes it from the input.
    ///
    /// The text is valid only within the closure.
    ///
    /// - Returns: The result of the closure, or a failure for a malformed or truncated text; nil if
    ///   the input is used up.
    /// - Throws: ``RequestError/Code/bodyTooLarge`` for a text above the limit, and
    ///   ``RequestError/Code/undecodable`` for a stream that does not begin with RS, then at every
    ///   call.
    package mutating func next<R>(
        in input: inout UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(RequestError) -> R
    ) throws(RequestError) -> Result<R, RequestError>? {
        deliver(try find(in: &input), body)
    }

    /// Passes the last text to a closure after the end of the stream.
    package mutating func end<R>(
        _ body: (UnsafeRawBufferPointer) throws(RequestError) -> R
    ) throws(RequestError) -> Result<R, RequestError>? {
        if let fault { throw fault }
        guard phase == .text, !pending.isEmpty else { return nil }
        return deliver(endText(UnsafeRawBufferPointer(start: nil, count: 0)), body)
    }

    /// Decodes the next text and removes it from the input.
    package mutating func next<T: Decodable>(
        _ type: T.Type, in input: inout UnsafeRawBufferPointer,
        decoder: JSONReader = JSONReader()
    ) throws(RequestError) -> Result<T, RequestError>? {
        let (number, texts) = (textNumber + 1, JSONTextDecoder(decoder: decoder))
        return try next(in: &input) { text throws(RequestError) in
            try texts.decode(type, from: text, name: Self.name(number))
        }
    }

    /// Decodes the last text after the end of the stream.
    package mutating func end<T: Decodable>(
        _ type: T.Type, decoder: JSONReader = JSONReader()
    ) throws(RequestError) -> Result<T, RequestError>? {
        let (number, texts) = (textNumber + 1, JSONTextDecoder(decoder: decoder))
        return try end { text throws(RequestError) in
            try texts.decode(type, from: text, name: Self.name(number))
        }
    }

    private mutating func deliver<R>(
        _ found: Found, _ body: (UnsafeRawBufferPointer) throws(RequestError) -> R
    ) -> Result<R, RequestError>? {
        switch found {
        case .needsInput: return nil
        case .failure(let error): return .failure(error)
        case .input(let text):
            return Result { () throws(RequestError) in try body(text) }
        case .pending:
            defer { pending.removeAll(keepingCapacity: true) }
            return pending.withUnsafeBufferPointer { bytes in
                Result { () throws(RequestError) in try body(UnsafeRawBufferPointer(bytes)) }
            }
        }
    }

    // MARK: - Search

    private mutating func find(
        in input: inout UnsafeRawBufferPointer
    ) throws(RequestError) -> Found {
        if let fault { throw fault }
        while let first = input.first {
            switch phase {
            case .start:
                guard first == Self.separator else { throw failAtStart() }
                beginText(&input)
            case .delivered where JSONTokenizer.isWhiteSpace(first): remove(1, from: &input)
            case .delivered where first == Self.separator: beginText(&input)
            case .delivered: return malformed(.trailingContent, at: offset)
            case .failed:
                remove(Self.lengthOfText(input), from: &input)
                if !input.isEmpty { beginText(&input) }
            case .text:
                let found = try readText(&input)
                if case .needsInput = found { continue }
                return found
            }
        }
        return .needsInput
    }

    private mutating func beginText(_ input: inout UnsafeRawBufferPointer) {
        remove(1, from: &input)
        phase = .text
        tokenizer = JSONTokenizer(maximumDepth: maximumDepth, skipsByteOrderMark: false)
        needsWhiteSpace = false
    }

    /// Reads to the end of the text or of the input.
    private mutating func readText(
        _ input: inout UnsafeRawBufferPointer
    ) throws(RequestError) -> Found {
        let text = UnsafeRawBufferPointer(rebasing: input[..<Self.lengthOfText(input)])
        var position = 0
        do throws(JSONTokenizer.Fault) {
            while position < text.count {
                if tokenizer.isComplete {
                    guard JSONTokenizer.isWhiteSpace(text[position]) else {
                        throw JSONTokenizer.Fault(.trailingContent)
                    }
                    needsWhiteSpace = false
                    if text[position] == 0x0A { break }
                    position += 1
                    continue
                }
                switch try tokenizer.next(in: text, at: &position) {
                case .beginNumber, .beginLiteral: needsWhiteSpace = tokenizer.depth == 0
                case .beginString, .beginObject, .beginArray: needsWhiteSpace = false
                default: break
                }
            }
        } catch {
            try checkLimit(position)
            remove(position, from: &input)
            return malformed(error.kind, at: offset)
        }
        try checkLimit(position)
        let read = UnsafeRawBufferPointer(rebasing: text[..<position])
        if position < text.count {
            remove(position + 1, from: &input)
            return found(read)
        }
        remove(position, from: &input)
        if input.isEmpty {
            pending.append(contentsOf: read)
            return .needsInput
        }
        // RS ends the text; several RS in a row are one.
        guard !(read.isEmpty && pending.isEmpty) else {
            beginText(&input)
            return .needsInput
        }
        return endText(read)
    }

    /// Ends a text at RS or at the end of the stream.
    private mutating func endText(_ last: UnsafeRawBufferPointer) -> Found {
        guard tokenizer.isComplete, !needsWhiteSpace else {
            pending.removeAll(keepingCapacity: true)
            return failure(
                "is truncated at byte \(offset): a value must be complete, and white space must "
                    + "follow a number or literal (RFC 7464 §2.4).", .unexpectedEnd)
        }
        return found(last)
    }

    private mutating func found(_ last: UnsafeRawBufferPointer) -> Found {
        textNumber += 1
        phase = .delivered
        guard !pending.isEmpty else { return .input(last) }
        pending.append(contentsOf: last)
        return .pending
    }

    private static func lengthOfText(_ input: UnsafeRawBufferPointer) -> Int {
        guard let start = input.baseAddress else { return 0 }
        return memchr(start, Int32(separator), input.count)
            .map { UnsafeRawPointer($0) - start } ?? input.count
    }

    private mutating func remove(_ count: Int, from input: inout UnsafeRawBufferPointer) {
        input = UnsafeRawBufferPointer(rebasing: input[count...])
        offset += Int64(count)
    }

    // MARK: - Errors

    private static func name(_ number: Int) -> String { "text \(number) of the JSON sequence" }

    /// Reports a fault of the text at the current byte.
    private mutating func malformed(_ kind: JSONError.Kind, at byte: Int64) -> Found {
        pending.removeAll(keepingCapacity: true)
        return failure("is not valid JSON: \(kind) at byte \(byte) of the body.", kind)
    }

    private mutating func failure(_ reason: String, _ kind: JSONError.Kind) -> Found {
        textNumber += 1
        phase = .failed
        return .failure(
            RequestError(
                .undecodable, stage: .decode,
                "Text \(textNumber) of the JSON sequence \(reason)",
                underlying: JSONError(kind, byteOffset: Int(offset))))
    }

    private mutating func checkLimit(_ count: Int) throws(RequestError) {
        guard count > maximumTextBytes - pending.count else { return }
        pending = []
        let error = RequestError(
            .bodyTooLarge, stage: .transport,
            "Text \(textNumber + 1) of the JSON sequence exceeds the limit of \(maximumTextBytes) "
                + "bytes. Raise maximumTextBytes if such texts are expected.")
        fault = error
        throw error
    }

    private mutating func failAtStart() -> RequestError {
        let error = RequestError(
            .undecodable, stage: .decode,
            "The body is not a JSON text sequence: its first byte is not RS (0x1E). Read JSON lines "
                + "if each line is a text.")
        fault = error
        return error
    }
}
