extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
    ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// Creates an object; its members keep the order and the repeated keys of the literal.
    public init(dictionaryLiteral members: (String, JSON)...) {
        self.init(members: members)
    }

    /// Creates an array.
    public init(arrayLiteral elements: JSON...) {
        self.init(elements)
    }

    /// Creates a string.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Creates a number.
    public init(integerLiteral value: Int64) {
        self.init(value)
    }

    /// Creates a number; `null` if the value is not finite.
    public init(floatLiteral value: Double) {
        self.init(value)
    }

    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) {
        self.init(value)
    }

    /// Creates the value `null`.
    public init(nilLiteral: ()) {
        self = .null
    }

    /// Parses the text that `write` produces.
    static func written<E: Error>(_ write: (ByteSink) throws(E) -> Void) throws(E) -> JSON {
        let text = try ByteSink.with { sink throws(E) in
            try write(sink)
            return sink.bytes
        }
        return JSON(trusting: text)
    }

    // MARK: - From values

    /// Creates an object with these members, in this order; `absent` values become `null`.
    public init(members: some Sequence<(String, JSON)>) {
        self = JSON.written { sink in
            sink.write(UInt8(ascii: "{"))
            var isFirst = true
            for (key, value) in members {
                if !isFirst { sink.write(UInt8(ascii: ",")) }
                isFirst = false
                sink.write(string: key)
                sink.write(UInt8(ascii: ":"))
                JSONPrinter.print(value, to: sink)
            }
            sink.write(UInt8(ascii: "}"))
        }
    }

    /// Creates an array of these values; `absent` values become `null`.
    public init(_ elements: some Sequence<JSON>) {
        self = JSON.written { sink in
            sink.write(UInt8(ascii: "["))
            var isFirst = true
            for element in elements {
                if !isFirst { sink.write(UInt8(ascii: ",")) }
                isFirst = false
                JSONPrinter.print(element, to: sink)
            }
            sink.write(UInt8(ascii: "]"))
        }
    }

    /// Creates a string.
    public init(_ string: String) {
        self = JSON.written { $0.write(string: string) }
    }

    /// Creates a number.
    public init(_ integer: some FixedWidthInteger) {
        self = JSON.written { $0.write(integer: integer) }
    }

    /// Creates a number; `null` if the value is not finite, because JSON cannot represent it.
    public init(_ double: Double) {
        self = JSON.written { sink in
            if !sink.write(floating: double) { sink.write("null") }
        }
    }

    /// Creates `true` or `false`.
    public init(_ bool: Bool) {
        self.init(trusting: Array((bool ? "true" : "false").utf8))
    }
}
