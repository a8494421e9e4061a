package import ErrandHTTP
package import ErrandJSON

/// Finds the elements of an array in a JSON document of any size, whose chunks may be split
/// anywhere.
///
/// The caller pulls the elements, as from ``LineParser``. Everything outside the array is checked
/// and skipped. The memory is bounded by the maximum size of an element and one bit for each level
/// of nesting. If an object repeats a name of the path, the elements of each such array are
/// delivered. The bytes of an element are valid JSON, except that its strings may contain invalid
/// UTF-8 and unpaired surrogates.
package struct JSONElementScanner: Sendable {
    private enum Found {
        case needsInput
        /// An element in the input.
        case input(UnsafeRawBufferPointer)
        /// An element in `pending`.
        case pending
    }

    private let path: JSONElementPath
    private let names: [[UInt8]]
    private let maximumElementBytes: Int
    private var tokenizer: JSONTokenizer
    private var matcher = JSONKeyMatcher()
    private var isReadingKey = false
    /// Whether the value of the last key belongs to the path.
    private var isKeyMatch = false
    /// The number of open containers that belong to the path; one more than `names` in the array.
    private var level = 0
    private var isInElement = false
    /// The start of an incomplete element.
    private var pending: [UInt8] = []
    private var hasFoundArray = false
    private var fault: RequestError?
    /// The number of bytes that were removed from the inputs.
    private var offset: Int64 = 0
    /// The number of elements that have begun.
    package private(set) var elementCount = 0

    /// Creates a scanner.
    package init(
        path: JSONElementPath, maximumElementBytes: Int = 1 << 20, maximumDepth: Int = 512
    ) {
        self.path = path
        names = path.names.map { Array($0.utf8) }
        self.maximumElementBytes = max(0, maximumElementBytes)
        tokenizer = JSONTokenizer(maximumDepth: maximumDepth, skipsByteOrderMark: true)
    }

    /// Passes the bytes of the next element to a closure and removes them from the input.
    ///
    /// The bytes are valid only within the closure.
    ///
    /// - Returns: The result of the closure; nil if the input is used up.
    /// - Throws: ``RequestError/Code/undecodable`` for a malformed document or a value on the path
    ///   of another kind, ``RequestError/Code/bodyTooLarge`` for an element above the limit; then
    ///   at every call.
    package mutating func next<R>(
        in input: inout UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(RequestError) -> R
    ) throws(RequestError) -> R? {
        switch try find(in: &input) {
        case .needsInput: return nil
        case .input(let element): return try body(element)
        case .pending:
            defer { pending.removeAll(keepingCapacity: true) }
            return try pending.withUnsafeBufferPointer { bytes throws(RequestError) in
                try body(UnsafeRawBufferPointer(bytes))
            }
        }
    }

    /// Decodes the next element and removes it from the input.
    ///
    /// An element that cannot be decoded is an error; the next call decodes the element after it.
    package mutating func next<T: Decodable>(
        _ type: T.Type, in input: inout UnsafeRawBufferPointer,
        decoder: JSONReader = JSONReader()
    ) throws(RequestError) -> T? {
        let number = isInElement ? elementCount : elementCount + 1
        let (path, texts) = (path, JSONTextDecoder(decoder: decoder))
        return try next(in: &input) { element throws(RequestError) in
            try texts.decode(type, from: element, name: "element \(number) of \(path)")
        }
    }

    /// Checks that the document is complete after the end of the stream.
    ///
    /// - Throws: ``RequestError/Code/undecodable`` if the document is truncated or has no array at
    ///   the path.
    package mutating func end() throws(RequestError) {
        if let fault { throw fault }
        guard tokenizer.isComplete else {
            let place = isInElement ? "in element \(elementCount) of \(path)" : "in its JSON"
            throw fail(
                "The body ends at byte \(offset) \(place), which is incomplete.", .unexpectedEnd)
        }
        guard hasFoundArray else {
            throw fail(
                "The JSON of the body, which ends at byte \(offset), has no array at "
                    + "\(path.place(of: names.count)).", nil)
        }
    }

    // MARK: - Search

    private mutating func find(
        in input: inout UnsafeRawBufferPointer
    ) throws(RequestError) -> Found {
        if let fault { throw fault }
        var position = 0
        var start = 0
        while true {
            let before = position
            let token: JSONTokenizer.Token
            do throws(JSONTokenizer.Fault) {
                token = try tokenizer.next(in: input, at: &position)
            } catch {
                if isInElement { try checkLimit(position - start) }
                offset += Int64(position)
                let place = isInElement ? " in element \(elementCount) of \(path)" : ""
                throw fail(
                    "The body is not valid JSON: \(error.kind) at byte \(offset)\(place).",
                    error.kind)
            }
            if isReadingKey {
                let end = token == .endKey ? position - 1 : position
                matcher.read(UnsafeRawBufferPointer(rebasing: input[before..<end]))
            }
            switch token {
            case .needsInput:
                if isInElement {
                    try checkLimit(position - start)
                    pending.append(contentsOf: input[start..<position])
                }
                remove(position, from: &input)
                return .needsInput
            case .beginObject, .beginArray, .beginString, .beginNumber, .beginLiteral:
                if !isInElement, try beginsElement(token, at: offset + Int64(position - 1)) {
                    isInElement = true
                    elementCount += 1
                    start = position - 1
                }
            case .endObject, .endArray, .endScalar:
                guard isInElement else {
                    level = min(level, tokenizer.depth)
                    continue
                }
                guard tokenizer.depth == level else { continue }
                try checkLimit(position - start)
                let element = UnsafeRawBufferPointer(rebasing: input[start..<position])
                isInElement = false
                remove(position, from: &input)
                guard !pending.isEmpty else { return .input(element) }
                pending.append(contentsOf: element)
                return .pending
            case .beginKey:
                guard level > 0, level <= names.count, tokenizer.depth == level else { continue }
                isReadingKey = true
                matcher.begin(names[level - 1])
            case .endKey:
                isKeyMatch = isReadingKey && matcher.isMatch
                isReadingKey = false
            }
        }
    }

    /// Whether a value outside of elements, which begins with the token, is an element.
    private mutating func beginsElement(
        _ token: JSONTokenizer.Token, at byte: Int64
    ) throws(RequestError) -> Bool {
        let isContainer = token == .beginObject || token == .beginArray
        guard tokenizer.depth - (isContainer ? 1 : 0) == level else { return false }
        guard level <= names.count else { return true }
        guard level == 0 || isKeyMatch else { return false }
        isKeyMatch = false
        let isLast = level == names.count
        guard token == (isLast ? .beginArray : .beginObject) else {
            throw fail(
                "The JSON of the body has \(Self.words(for: token)) at \(path.place(of: level)) "
                    + "(byte \(byte)), but \(path) needs an \(isLast ? "array" : "object") there.",
                nil)
        }
        level += 1
        hasFoundArray = hasFoundArray || isLast
        return false
    }

    private static func words(for token: JSONTokenizer.Token) -> String {
        switch token {
        case .beginObject: "an object"
        case .beginArray: "an array"
        case .beginString: "a string"
        case .beginNumber: "a number"
        default: "true, false or null"
        }
    }

    private mutating func remove(_ count: Int, from input: inout UnsafeRawBufferPointer) {
        input = UnsafeRawBufferPointer(rebasing: input[count...])
        offset += Int64(count)
    }

    // MARK: - Errors

    private mutating func checkLimit(_ count: Int) throws(RequestError) {
        guard count > maximumElementBytes - pending.count else { return }
        pending = []
        let error = RequestError(
            .bodyTooLarge, stage: .transport,
            "Element \(elementCount) of \(path) exceeds the limit of \(maximumElementBytes) bytes. "
                + "Raise maximumElementBytes if such elements are expected.")
        fault = error
        throw error
    }

    private mutating func fail(_ message: String, _ kind: JSONError.Kind?) -> RequestError {
        pending = []
        let error = RequestError(
            .undecodable, stage: .decode, message,
            underlying: kind.map { JSONError($0, byteOffset: Int(offset)) })
        fault = error
        return error
    }
}
