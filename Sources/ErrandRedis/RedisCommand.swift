#if Redis
    import ErrandSystem

    /// A command in the form in which it is sent (RESP): an array of byte strings.
    struct RedisCommand: Sendable {
        /// A part of a command.
        enum Part: Sendable, ExpressibleByStringLiteral {
            case text(String)
            case data(Data)
            case number(Int)

            init(stringLiteral value: String) { self = .text(value) }
        }

        private(set) var bytes: [UInt8]

        init(_ parts: Part...) { self.init(parts) }

        init(_ parts: [Part]) {
            bytes = []
            bytes.reserveCapacity(parts.reduce(16) { $0 + $1.capacity })
            append("*", parts.count)
            for part in parts {
                switch part {
                case .text(var text): text.withUTF8 { append($0) }
                case .data(let data): data.withUnsafeBytes { append($0) }
                case .number(let number):
                    var text = String(number)
                    text.withUTF8 { append($0) }
                }
            }
        }

        private mutating func append(_ sign: Unicode.Scalar, _ count: Int) {
            bytes.append(UInt8(ascii: sign))
            bytes.append(contentsOf: String(count).utf8)
            bytes.append(13)
            bytes.append(10)
        }

        private mutating func append(_ part: some Collection<UInt8>) {
            append("$", part.count)
            bytes.append(contentsOf: part)
            bytes.append(13)
            bytes.append(10)
        }
    }

    extension RedisCommand.Part {
        fileprivate var capacity: Int {
            switch self {
            case .text(let text): text.utf8.count + 16
            case .data(let data): data.count + 16
            case .number: 32
            }
        }
    }
#endif
