/// The elements of a comma-separated field value (RFC 9110 §5.6.1): commas within quotes separate nothing, blanks
/// around elements and empty elements are left out.
package struct ListElements: Sequence, IteratorProtocol {
    private var rest: Substring

    package init(_ value: String) { rest = value[...] }

    package mutating func next() -> Substring? {
        while !rest.isEmpty {
            let element = takeElement().trimmingBlanks()
            if !element.isEmpty { return element }
        }
        return nil
    }

    private mutating func takeElement() -> Substring {
        let bytes = rest.utf8
        var isQuoted = false
        var isEscaped = false
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted && byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ","), !isQuoted {
                break
            }
            index = bytes.index(after: index)
        }
        let element = rest[..<index]
        rest = index < bytes.endIndex ? rest[bytes.index(after: index)...] : rest[index...]
        return element
    }
}

extension Substring {
    /// Without blanks and tabs at both ends.
    package func trimmingBlanks() -> Substring {
        var text = self
        while let first = text.utf8.first, first == 0x20 || first == 0x09 { text.removeFirst() }
        while let last = text.utf8.last, last == 0x20 || last == 0x09 { text.removeLast() }
        return text
    }
}
