extension JSON: Codable {
    /// Decodes any value.
    ///
    /// With ``JSONReader`` nothing is copied: the value keeps its document in memory, with the order of
    /// members, repeated keys and the text of numbers. With other decoders members are sorted by key, and numbers
    /// are exact within the ranges of `Int64`, `UInt64` and `Double`. Key strategies do not apply to the keys of the
    /// value.
    ///
    /// - Throws: `DecodingError` for a value that is not JSON, and for one nested deeper than 512 levels.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? TapeDecoder {
            self.init(tape: decoder.session.tape, index: decoder.index)
            return
        }
        let value = try GenericValue(from: decoder)
        self = try JSON.written { sink in try value.write(into: sink) }
    }

    /// Encodes the value; an absent value is encoded as null.
    ///
    /// ``JSONWriter`` writes the value as it is, with the order of members and the text of numbers. Other encoders
    /// use the first of repeated keys. Key strategies do not apply to the keys of the value.
    ///
    /// - Throws: `EncodingError` for a number beyond the range of `Double`; the errors of the encoder.
    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? StreamEncoder { return encoder.encode(json: self) }
        var container = encoder.singleValueContainer()
        switch kind {
        case .absent, .null: try container.encodeNil()
        case .bool: try container.encode(bool ?? false)
        case .string: try container.encode(string ?? "")
        case .array: try container.encode(array ?? [])
        case .object:
            // A dictionary and not a keyed container, whose keys a strategy would convert.
            let members = object ?? []
            try container.encode(
                Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first })
        case .number:
            if let int64 {
                try container.encode(int64)
            } else if let uint64 {
                try container.encode(uint64)
            } else if let double {
                try container.encode(double)
            } else {
                throw EncodingError.invalidValue(
                    self,
                    .init(
                        codingPath: encoder.codingPath,
                        debugDescription: "The number is beyond the range of Double."))
            }
        }
    }
}

/// A value that a decoder of another module decodes.
private indirect enum GenericValue: Decodable {
    case null
    case bool(Bool)
    case int(Int64)
    case unsigned(UInt64)
    case double(Double)
    case string(String)
    case array([GenericValue])
    case object([String: GenericValue])

    private static let maximumDepth = 512

    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.maximumDepth else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "The value is nested too deeply."))
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Double.self) {
            self = Self.number(value, container)
        } else if let value = try? container.decode([String: GenericValue].self) {
            self = .object(value)
        } else {
            self = .array(try container.decode([GenericValue].self))
        }
    }

    /// The number as an integer if it is one, because `Double` has only 53 bits.
    private static func number(
        _ value: Double, _ container: any SingleValueDecodingContainer
    ) -> GenericValue {
        guard value.rounded() == value, value.magnitude <= 0x1p64 else { return .double(value) }
        if let integer = try? container.decode(Int64.self) { return .int(integer) }
        if let integer = try? container.decode(UInt64.self) { return .unsigned(integer) }
        return .double(value)
    }

    func write(into sink: ByteSink) throws {
        switch self {
        case .null: sink.write("null")
        case .bool(let value): sink.write(value ? "true" : "false")
        case .int(let value): sink.write(integer: value)
        case .unsigned(let value): sink.write(integer: value)
        case .string(let value): sink.write(string: value)
        case .double(let value):
            guard sink.write(floating: value) else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: [], debugDescription: "The number is not finite."))
            }
        case .array(let values):
            sink.write(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { sink.write(UInt8(ascii: ",")) }
                try value.write(into: sink)
            }
            sink.write(UInt8(ascii: "]"))
        case .object(let members):
            sink.write(UInt8(ascii: "{"))
            let keys = members.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            for (index, key) in keys.enumerated() {
                if index > 0 { sink.write(UInt8(ascii: ",")) }
                sink.write(string: key)
                sink.write(UInt8(ascii: ":"))
                try members[key]?.write(into: sink)
            }
            sink.write(UInt8(ascii: "}"))
        }
    }
}
