#if Redis
    import CHiredis
    import ErrandSystem

    /// A reply of the server, copied from hiredis' tree.
    enum RedisReply: Sendable, Equatable {
        case string(Data)
        case status(String)
        case error(String)
        case integer(Int)
        case null
        case array([RedisReply])

        /// Copies a reply; the caller frees the original.
        ///
        /// - Parameter reply: A reply that hiredis has parsed.
        init(_ reply: UnsafePointer<redisReply>) {
            switch reply.pointee.type {
            case REDIS_REPLY_STRING: self = .string(Self.data(reply))
            case REDIS_REPLY_STATUS: self = .status(Self.text(reply))
            case REDIS_REPLY_ERROR: self = .error(Self.text(reply))
            case REDIS_REPLY_INTEGER: self = .integer(Int(reply.pointee.integer))
            case REDIS_REPLY_ARRAY:
                self = .array(
                    (0..<reply.pointee.elements).map { index in
                        guard let element = reply.pointee.element[index] else { return .null }
                        return RedisReply(element)
                    })
            default: self = .null
            }
        }

        private static func data(_ reply: UnsafePointer<redisReply>) -> Data {
            guard let start = reply.pointee.str, reply.pointee.len > 0 else { return Data() }
            return Data(bytes: start, count: reply.pointee.len)
        }

        private static func text(_ reply: UnsafePointer<redisReply>) -> String {
            String(decoding: data(reply), as: UTF8.self)
        }

        /// The bytes of a string; `nil` for other replies.
        var bytes: Data? {
            if case .string(let bytes) = self { return bytes }
            return nil
        }

        /// The text of a string or a status; `nil` for other replies.
        var text: String? {
            switch self {
            case .string(let bytes): String(decoding: bytes, as: UTF8.self)
            case .status(let text): text
            default: nil
            }
        }

        /// The integer; `nil` for other replies.
        var number: Int? {
            if case .integer(let number) = self { return number }
            return nil
        }

        /// The elements of an array; none for other replies.
        var elements: [RedisReply] {
            if case .array(let elements) = self { return elements }
            return []
        }
    }
#endif
