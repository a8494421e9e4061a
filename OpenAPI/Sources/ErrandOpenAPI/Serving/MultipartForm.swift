/// The parts of a body of the type `multipart/form-data` (RFC 7578).
struct MultipartForm {
    struct Part {
        var name: String
        var isFile: Bool
        /// The media type without parameters, in lower case; empty if it names none.
        var type: String
        var bytes: ArraySlice<UInt8>
    }

    private(set) var parts: [Part] = []

    /// Reads a body; `nil` if it is not divided as its content type says.
    init?(_ body: [UInt8], contentType: String) {
        guard let boundary = Self.parameter("boundary", of: contentType), !boundary.isEmpty else {
            return nil
        }
        let delimiter = Array("--\(boundary)".utf8)
        guard var rest = Self.rest(of: body[...], after: delimiter) else { return nil }
        while !rest.starts(with: Array("--".utf8)) {
            guard let content = Self.rest(of: rest, after: [13, 10]),
                let headEnd = Self.first(of: [13, 10, 13, 10], in: content),
                let end = Self.first(of: [13, 10] + delimiter, in: content[(headEnd + 2)...]),
                let part = Self.part(
                    head: content[..<headEnd], bytes: content[min(headEnd + 4, end)..<end])
            else { return nil }
            parts.append(part)
            rest = content[(end + 2 + delimiter.count)...]
        }
    }

    private static func part(head: ArraySlice<UInt8>, bytes: ArraySlice<UInt8>) -> Part? {
        var fields: [String: String] = [:]
        for line in String(decoding: head, as: UTF8.self).split(separator: "\r\n") {
            let field = line.split(separator: ":", maxSplits: 1).map { String($0).trimmingSpaces }
            guard field.count == 2 else { return nil }
            fields[field[0].lowercased()] = field[1]
        }
        let disposition = fields["content-disposition"] ?? ""
        guard let name = parameter("name", of: disposition) else { return nil }
        let type = (fields["content-type"] ?? "").split(separator: ";").first.map(String.init) ?? ""
        return Part(
            name: name, isFile: parameter("filename", of: disposition) != nil,
            type: type.trimmingSpaces.lowercased(), bytes: bytes)
    }

    /// The value of a parameter of a field, without quotation marks.
    private static func parameter(_ name: String, of field: String) -> String? {
        for parameter in field.split(separator: ";").dropFirst() {
            let pair = parameter.split(separator: "=", maxSplits: 1)
                .map { String($0).trimmingSpaces }
            guard pair.count == 2, pair[0].lowercased() == name else { continue }
            let isQuoted = pair[1].count > 1 && pair[1].hasPrefix("\"") && pair[1].hasSuffix("\"")
            return isQuoted ? String(pair[1].dropFirst().dropLast()) : pair[1]
        }
        return nil
    }

    private static func rest(
        of bytes: ArraySlice<UInt8>, after text: [UInt8]
    ) -> ArraySlice<UInt8>? {
        first(of: text, in: bytes).map { bytes[($0 + text.count)...] }
    }

    private static func first(of text: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= text.count else { return nil }
        return (bytes.startIndex...(bytes.endIndex - text.count)).first {
            bytes[$0] == text[0] && bytes[$0..<($0 + text.count)].elementsEqual(text)
        }
    }
}
