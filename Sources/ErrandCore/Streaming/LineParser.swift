package import ErrandHTTP
import ErrandSystem

/// Separates the lines of a byte stream whose chunks may be split anywhere.
///
/// The caller pulls the lines, so it can stop at any line and keep the rest of the input. A line
/// that lies in one chunk is a slice of it and is not copied. The memory is bounded by the maximum
/// length of a line. An input must be used up, until ``next(in:_:)`` returns nil, before the next
/// one is passed.
package struct LineParser: Sendable {
    /// The bytes that end a line.
    package enum Terminator: Sendable {
        /// LF, CRLF or CR.
        case any
        /// LF only: a CR before it belongs to the line.
        case lineFeed
    }

    enum Found {
        case needsInput
        /// A line in the input.
        case input(UnsafeRawBufferPointer)
        /// A line in `pending`.
        case pending
    }

    /// The addresses of the next terminators in the input that ends at `end`.
    ///
    /// Each byte is searched once for LF and once for CR, however the two are mixed.
    private struct Marks {
        var end: UInt = 0
        var lineFeed: UInt = 0
        var carriageReturn: UInt = 0
    }

    private let maximumLineBytes: Int
    private let terminator: Terminator
    /// The setting that error messages name.
    private let setting: String
    /// The start of an incomplete line.
    private var pending: [UInt8] = []
    private var marks = Marks()
    /// Whether the previous chunk ended with CR, so that an LF now belongs to that terminator.
    private var followsCarriageReturn = false
    private var fault: RequestError?
    /// The number of the last line that was delivered, counted from 1; 0 before the first line.
    package private(set) var lineNumber = 0

    /// Creates a parser; a terminator does not count towards the length of its line.
    package init(
        maximumLineBytes: Int = 1 << 20, terminator: Terminator = .any,
        setting: String = "maximumLineBytes"
    ) {
        self.maximumLineBytes = max(0, maximumLineBytes)
        self.terminator = terminator
        self.setting = setting
    }

    /// Passes the next line to a closure and removes it from the input.
    ///
    /// The line is valid only within the closure.
    ///
    /// - Returns: The result of the closure; nil if the input is used up.
    /// - Throws: ``RequestError/Code/bodyTooLarge`` for a line above the limit, then at every call.
    package mutating func next<R>(
        in input: inout UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(RequestError) -> R
    ) throws(RequestError) -> R? {
        switch try find(in: &input) {
        case .needsInput: return nil
        case .input(let line): return try body(line)
        case .pending: return try takePending(body)
        }
    }

    /// Passes every line that ends in a chunk to a closure.
    package mutating func forEachLine(
        in chunk: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(RequestError) -> Void
    ) throws(RequestError) {
        var input = chunk
        while true {
            switch try find(in: &input) {
            case .needsInput: return
            case .input(let line): try body(line)
            case .pending: try takePending(body)
            }
        }
    }

    /// Passes the last line, which has no terminator, to a closure after the end of the stream.
    ///
    /// - Returns: The result of the closure; nil if the stream ended with a terminator.
    package mutating func end<R>(
        _ body: (UnsafeRawBufferPointer) throws(RequestError) -> R
    ) throws(RequestError) -> R? {
        if let fault { throw fault }
        followsCarriageReturn = false
        guard !pending.isEmpty else { return nil }
        lineNumber += 1
        return try takePending(body)
    }

    // MARK: - Search

    mutating func find(
        in input: inout UnsafeRawBufferPointer
    ) throws(RequestError) -> Found {
        if let fault { throw fault }
        if followsCarriageReturn, let first = input.first {
            followsCarriageReturn = false
            if first == 0x0A { remove(1, from: &input) }
        }
        guard let start = input.baseAddress, !input.isEmpty else { return .needsInput }
        let length = lengthOfLine(at: start, count: input.count)
        guard length ?? input.count <= maximumLineBytes - pending.count else {
            throw fail()
        }
        guard let length else {
            pending.append(contentsOf: input)
            remove(input.count, from: &input)
            return .needsInput
        }
        let line = UnsafeRawBufferPointer(start: start, count: length)
        var end = length + 1
        if terminator == .any, input[length] == 0x0D {
            if end == input.count {
                followsCarriageReturn = true
            } else if input[end] == 0x0A {
                end += 1
            }
        }
        remove(end, from: &input)
        lineNumber += 1
        guard !pending.isEmpty else { return .input(line) }
        pending.append(contentsOf: line)
        return .pending
    }

    /// The number of bytes before the first terminator; nil if the input contains none.
    private mutating func lengthOfLine(at start: UnsafeRawPointer, count: Int) -> Int? {
        let address = UInt(bitPattern: start)
        let end = UInt(bitPattern: start + count)
        if marks.end != end { marks = Marks(end: end) }
        if marks.lineFeed < address {
            marks.lineFeed = memchr(start, 0x0A, count).map { UInt(bitPattern: $0) } ?? end
        }
        if terminator == .any, marks.carriageReturn < address {
            marks.carriageReturn = memchr(start, 0x0D, count).map { UInt(bitPattern: $0) } ?? end
        }
        let next =
            terminator == .any ? min(marks.lineFeed, marks.carriageReturn) : marks.lineFeed
        return next == end ? nil : Int(next - address)
    }

    private mutating func remove(_ count: Int, from input: inout UnsafeRawBufferPointer) {
        input = UnsafeRawBufferPointer(rebasing: input[count...])
        // The next chunk may be in the same memory.
        if input.isEmpty { marks = Marks() }
    }

    mutating func takePending<R>(
        _ body: (UnsafeRawBufferPointer) throws(RequestError) -> R
    ) throws(RequestError) -> R {
        defer { pending.removeAll(keepingCapacity: true) }
        return try pending.withUnsafeBufferPointer { bytes throws(RequestError) in
            try body(UnsafeRawBufferPointer(bytes))
        }
    }

    private mutating func fail() -> RequestError {
        pending = []
        let error = RequestError(
            .bodyTooLarge, stage: .transport,
            "Line \(lineNumber + 1) of the body exceeds the limit of \(maximumLineBytes) bytes. "
                + "Raise \(setting) if such lines are expected.")
        fault = error
        return error
    }
}
