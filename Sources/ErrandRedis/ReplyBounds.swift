#if Redis
    /// Checks received bytes before hiredis parses them, so that a reply needs a bounded amount of memory, time and
    /// stack; pure.
    ///
    /// hiredis limits neither the length of a line nor the elements of an array, and from version 1.1 on not the
    /// depth of arrays either.
    struct ReplyBounds: Sendable, Equatable {
        /// The maximum length of a line: a status, an error, an integer, or the length of a string or an array.
        static let lineBytes = 64 << 10
        /// The maximum size of one reply.
        ///
        /// The largest replies are the records of entries without parts, and lists of keys.
        static let replyBytes = 64 << 20
        /// The maximum number of strings and arrays in one reply.
        static let elements = 1 << 20
        /// The maximum depth of arrays; no command that the store uses has a reply with more than three.
        static let depth = 8

        /// The position in a reply.
        private enum Position: Equatable {
            case type
            case line(Line)
            /// In a string, or in the line end after it.
            case text(left: Int)
        }

        private struct Line: Equatable {
            enum Kind { case other, string, array }

            let kind: Kind
            /// The bytes after the first one.
            var count = 0
            /// The length of a string or an array so far.
            var number = 0
            var isNegative = false
            /// Whether the last byte was a carriage return.
            var hasReturn = false
        }

        private var position = Position.type
        /// The elements that each open array still needs.
        private var open: [Int] = []
        private var elementCount = 0
        private var byteCount = 0
        /// The bytes of strings that were received since the connection began, with wraparound.
        private(set) var textBytes: UInt64 = 0

        /// The bytes of the last call of ``check(_:)`` that are accepted.
        private(set) var accepted = 0

        /// Checks the next bytes.
        mutating func check(_ bytes: UnsafeRawBufferPointer) throws(RedisFailure) {
            accepted = 0
            var index = 0
            while index < bytes.count {
                if case .text(let left) = position {
                    let count = min(left, bytes.count - index)
                    index += count
                    textBytes &+= UInt64(count)
                    try add(count)
                    position = .text(left: left - count)
                    if left == count { endElement() }
                } else {
                    try add(1)
                    try check(bytes[index])
                    index += 1
                }
                accepted = index
            }
        }

        private mutating func add(_ count: Int) throws(RedisFailure) {
            byteCount += count
            guard byteCount <= Self.replyBytes else {
                throw Self.failure("a reply of more than \(Self.replyBytes) bytes")
            }
        }

        private mutating func check(_ byte: UInt8) throws(RedisFailure) {
            guard case .line(var line) = position else {
                position = .line(Line(kind: try Self.kind(byte)))
                return
            }
            guard line.count < Self.lineBytes else {
                throw Self.failure("a line of more than \(Self.lineBytes) bytes")
            }
            // A line ends where it ends for hiredis: with both bytes.
            if byte == UInt8(ascii: "\n"), line.hasReturn { return try end(line) }
            if line.kind != .other {
                switch byte {
                case _ where line.hasReturn: throw Self.failure("a length that is no number")
                case UInt8(ascii: "\r"): break
                case UInt8(ascii: "-") where line.count == 0: line.isNegative = true
                case UInt8(ascii: "0")...UInt8(ascii: "9"):
                    line.number = min(line.number * 10 + Int(byte - UInt8(ascii: "0")), 1 << 40)
                default: throw Self.failure("a length that is no number")
                }
            }
            line.hasReturn = byte == UInt8(ascii: "\r")
            line.count += 1
            position = .line(line)
        }

        /// The line that begins with a byte; the types of RESP3 are not negotiated.
        private static func kind(_ byte: UInt8) throws(RedisFailure) -> Line.Kind {
            switch byte {
            case UInt8(ascii: "$"): .string
            case UInt8(ascii: "*"): .array
            case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ":"): .other
            default: throw failure("data that is not a reply of Redis")
            }
        }

        private mutating func end(_ line: Line) throws(RedisFailure) {
            let number = line.isNegative ? -1 : line.number
            switch line.kind {
            case .string where number >= 0:
                guard number <= Self.replyBytes else {
                    throw Self.failure("a reply of more than \(Self.replyBytes) bytes")
                }
                position = .text(left: number + 2)
            case .array where number > 0:
                guard open.count < Self.depth else {
                    throw Self.failure("arrays nested deeper than \(Self.depth)")
                }
                // Elements count before they arrive: hiredis reserves memory for them.
                elementCount += number
                guard elementCount <= Self.elements else {
                    throw Self.failure("a reply of more than \(Self.elements) elements")
                }
                open.append(number)
                position = .type
            default: endElement()
            }
        }

        /// Ends an element, and the arrays whose last element it is.
        private mutating func endElement() {
            position = .type
            while let left = open.popLast() {
                if left > 1 { return open.append(left - 1) }
            }
            (elementCount, byteCount) = (0, 0)
        }

        private static func failure(_ text: String) -> RedisFailure {
            RedisFailure(kind: .invalidReply, message: "the server sent \(text)")
        }
    }
#endif
