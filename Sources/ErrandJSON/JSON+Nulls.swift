extension JSON {
    /// The same value without members and items that are null, at every level; a null at the top stays.
    ///
    /// An object or an array that has nothing left is empty, not gone.
    public var removingNulls: JSON {
        JSON.written { sink in NullRemoval.write(self, to: sink, depth: 0) }
    }
}

/// Writes a value once more and leaves nulls out.
private enum NullRemoval {
    /// Deeper than any document that comes over the network by default; below it the value stays as it is.
    private static let maximumDepth = 1024

    static func write(_ json: JSON, to sink: ByteSink, depth: Int) {
        guard depth < maximumDepth else { return JSONPrinter.print(json, to: sink) }
        if let members = json.object {
            sink.write(UInt8(ascii: "{"))
            var isFirst = true
            // The first of repeated keys counts, here as everywhere, also where it is null.
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
