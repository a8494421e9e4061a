extension JSON {
    /// A copy without members and items that are null, at every level.
    ///
    /// A null at the top level stays. An object or an array whose members or items are all removed
    /// stays as an empty one.
    public var removingNulls: JSON {
        JSON.written { sink in NullRemoval.write(self, to: sink, depth: 0) }
    }
}

/// Writes a value without nulls.
private enum NullRemoval {
    /// The depth from which on nulls are kept.
    ///
    /// It is twice the default limit of the parser.
    private static let maximumDepth = 1024

    static func write(_ json: JSON, to sink: ByteSink, depth: Int) {
        guard depth < maximumDepth else { return JSONPrinter.print(json, to: sink) }
        if let members = json.object {
            sink.write(UInt8(ascii: "{"))
            var isFirst = true
            // As in a subscript, the first of repeated keys is used, even if its value is null.
            var seen: Set<String> = []
            for (key, value) in members {
                guard seen.insert(key).inserted, !value.isNull else { continue }
                if !isFirst { sink.write(UInt8(ascii: ",")) }
                isFirst = false
                sink.write(string: key)
                sink.write(UInt8(ascii: ":"))
                write(value, to: sink, depth: depth + 1)
            }
            sink.write(UInt8(ascii: "}"))
        } else if json.kind == .array {
            sink.write(UInt8(ascii: "["))
            var isFirst = true
            for value in json where !value.isNull {
                if !isFirst { sink.write(UInt8(ascii: ",")) }
                isFirst = false
                write(value, to: sink, depth: depth + 1)
            }
            sink.write(UInt8(ascii: "]"))
        } else {
            JSONPrinter.print(json, to: sink)
        }
    }
}
