public import ErrandHTTP
public import ErrandSystem

extension ServerSentEvent {
    /// Parses an event stream whose chunks may be split anywhere (HTML standard, §9.2.6).
    ///
    /// Bytes that are not UTF-8 are replaced by U+FFFD. An event that the end of the stream
    /// interrupts is discarded, so the parser needs no notice of the end. The memory is bounded by
    /// the maximum size of an event.
    ///
    /// An `id` that contains NUL is ignored, as the standard says. So is one that the header `Last-Event-ID` cannot carry:
    /// with another control character (RFC 9110 §5.5), or with more than ``maximumIDBytes`` bytes. The ID before it then
    /// stays the last one.
    public struct Parser: Sendable {
        private var lines: LineParser
        private var state: State

        /// The maximum size of an event ID, in bytes (4 KiB): a reconnecting client sends it in a header.
        public static let maximumIDBytes = 4096

        /// Creates a parser.
        ///
        /// - Parameters:
        ///   - maximumEventBytes: The limit for the data of an event, and for the value of every
        ///     other field and comment; 1 MiB by default.
        ///   - lastEventID: The last event ID of the stream that this one continues; empty by
        ///     default. Events have it until an `id` field replaces it.
        public init(maximumEventBytes: Int = 1 << 20, lastEventID: String = "") {
            let limit = max(0, maximumEventBytes)
            // A byte order mark and "retry: " can precede a value.
            lines = LineParser(
                maximumLineBytes: limit + min(10, .max - limit), setting: "maximumEventBytes")
            state = State(limit: limit, id: lastEventID)
        }

        /// The last event ID after the last block of fields that ended with a blank line.
        ///
        /// A block without data changes it too. A reconnecting client sends it as `Last-Event-ID`.
        public var lastEventID: String { state.lastEventID }

        /// The reconnection time that the server has set with `retry`, at most 136 years; `nil` if
        /// it has set none.
        public var reconnectionTime: Duration? { state.reconnectionTime }

        /// Returns the next event of a chunk and removes its bytes from the input.
        ///
        /// The input must be used up, until this method returns `nil`, before the next one is
        /// passed.
        ///
        /// - Throws: ``RequestError/Code/bodyTooLarge`` for an event above the limit, then at every
        ///   call.
        public mutating func next(
            in input: inout UnsafeRawBufferPointer
        ) throws(RequestError) -> ServerSentEvent? {
            try Self.next(in: &input, &lines, &state)
        }

        /// Passes every event that ends in a chunk to a closure.
        ///
        /// - Throws: ``RequestError/Code/bodyTooLarge`` for an event above the limit, then at every
        ///   call; the closure has received the events before it.
        public mutating func parse(
            _ chunk: Data, _ body: (ServerSentEvent) -> Void
        ) throws(RequestError) {
            let result = chunk.withUnsafeBytes { bytes in
                Result { () throws(RequestError) in
                    var input = bytes
                    while let event = try Self.next(in: &input, &lines, &state) { body(event) }
                }
            }
            try result.get()
        }

        /// Reads lines until one of them ends an event.
        private static func next(
            in input: inout UnsafeRawBufferPointer, _ lines: inout LineParser, _ state: inout State
        ) throws(RequestError) -> ServerSentEvent? {
            if let fault = state.fault { throw fault }
            while true {
                let number = lines.lineNumber + 1
                let line = try lines.next(in: &input) { line throws(RequestError) in
                    try state.read(line, number: number)
                }
                guard let line else { return nil }
                if let event = line { return event }
            }
        }
    }
}

extension ServerSentEvent.Parser {
    /// The buffers of the HTML standard.
    private struct State {
        let limit: Int
        /// The buffer of the last event ID; ``lastEventID`` becomes equal to it at a blank line.
        var id: String
        var lastEventID: String
        var reconnectionTime: Duration?
        var fault: RequestError?
        private var type = ""
        /// The values of the data fields, each followed by LF.
        private var data: [UInt8] = []
        private var isFirstLine = true

        init(limit: Int, id: String) {
            self.limit = limit
            self.id = id
            lastEventID = id
        }

        /// Reads a line and returns the event that it ends, if any.
        mutating func read(
            _ line: UnsafeRawBufferPointer, number: Int
        ) throws(RequestError) -> ServerSentEvent? {
            var line = line
            if isFirstLine {
                isFirstLine = false
                // A byte order mark, which the UTF-8 decoder of the HTML standard removes.
                if line.starts(with: [0xEF, 0xBB, 0xBF]) {
                    line = UnsafeRawBufferPointer(rebasing: line[3...])
                }
            }
            guard !line.isEmpty else { return dispatch() }
            let colon = line.firstIndex(of: 0x3A) ?? line.count
            var start = min(colon + 1, line.count)
            if start < line.count, line[start] == 0x20 { start += 1 }
            try set(
                UnsafeRawBufferPointer(rebasing: line[..<colon]),
                to: UnsafeRawBufferPointer(rebasing: line[start...]), number: number)
            return nil
        }

        /// Sets a field; comments, which have an empty name, and unknown fields are ignored.
        private mutating func set(
            _ name: UnsafeRawBufferPointer, to value: UnsafeRawBufferPointer, number: Int
        ) throws(RequestError) {
            if name.elementsEqual("data".utf8) {
                guard value.count <= limit - data.count else { throw fail(number) }
                data.append(contentsOf: value)
                data.append(0x0A)
                return
            }
            guard value.count <= limit else { throw fail(number) }
            if name.elementsEqual("event".utf8) {
                type = String(decoding: value, as: UTF8.self)
            } else if name.elementsEqual("id".utf8) {
                if Self.isID(value) { id = String(decoding: value, as: UTF8.self) }
            } else if name.elementsEqual("retry".utf8) {
                if let time = Self.milliseconds(value) { reconnectionTime = time }
            }
        }

        /// Whether a reconnecting client can send the value as `Last-Event-ID`.
        private static func isID(_ value: UnsafeRawBufferPointer) -> Bool {
            value.count <= ServerSentEvent.Parser.maximumIDBytes
                && value.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
        }

        /// Ends a block of fields at a blank line.
        private mutating func dispatch() -> ServerSentEvent? {
            lastEventID = id
            defer {
                type = ""
                data.removeAll(keepingCapacity: true)
            }
            guard !data.isEmpty else { return nil }
            return ServerSentEvent(
                type: type.isEmpty ? "message" : type,
                data: String(decoding: data.dropLast(), as: UTF8.self), id: id)
        }

        /// The duration of a value of ASCII digits; nil for other values.
        private static func milliseconds(_ value: UnsafeRawBufferPointer) -> Duration? {
            guard !value.isEmpty else { return nil }
            var number: Int64 = 0
            for byte in value {
                guard byte >= 0x30, byte <= 0x39 else { return nil }
                let (product, overflows) = number.multipliedReportingOverflow(by: 10)
                let (sum, overflowsToo) = product.addingReportingOverflow(Int64(byte - 0x30))
                number = overflows || overflowsToo ? .max : sum
            }
            return Duration.milliseconds(number).clamped
        }

        private mutating func fail(_ number: Int) -> RequestError {
            data = []
            let error = RequestError(
                .bodyTooLarge, stage: .transport,
                "The server-sent event of line \(number) exceeds the limit of \(limit) bytes. Raise "
                    + "maximumEventBytes if such events are expected.")
            fault = error
            return error
        }
    }
}
