/// A content type `multipart/…` (RFC 2046 §5.1); a strict, pure parser.
struct MultipartType {
    /// The parameter `boundary`; `nil` if it is missing.
    private(set) var boundary: String?

    /// `nil` for other types and for malformed text.
    init?(_ text: String) {
        var reader = FieldReader(text)
        guard reader.token()?.lowercasedASCII() == "multipart", reader.take(UInt8(ascii: "/")),
            reader.token() != nil, reader.skipSpaces()
        else { return nil }
        while reader.take(UInt8(ascii: ";")) {
            _ = reader.skipSpaces()
            // Empty parameters are allowed (RFC 9110 §5.6.6).
            guard !reader.isAtEnd, reader.current != UInt8(ascii: ";") else { continue }
            guard let name = reader.token()?.lowercasedASCII(), reader.take(UInt8(ascii: "="))
            else {
                return nil
            }
            let isQuoted = reader.current == UInt8(ascii: "\"")
            guard let value = isQuoted ? reader.quoted() : reader.token(), reader.skipSpaces()
            else { return nil }
            guard name == "boundary" else { continue }
            guard boundary == nil else { return nil }
            boundary = value
        }
        guard reader.isAtEnd else { return nil }
    }

    /// A boundary as a parameter.
    static func parameter(_ boundary: String) -> String {
        "boundary=" + (boundary.isToken ? boundary : "\"\(boundary)\"")
    }
}

extension HTTPBody {
    /// The boundary of a body that consists of parts, also one that is encoded already; `nil` for other bodies.
    package var boundary: String? {
        if let multipart { return multipart.boundary }
        return contentType.flatMap { MultipartType($0)?.boundary }
    }

    /// A content type for this body, with the boundary of its parts added if it is missing.
    ///
    /// `nil` for a body with parts and a type that is not `multipart/…` or has another boundary: a server could not
    /// find the parts.
    package func completing(_ type: String) -> String? {
        guard let boundary else { return type }
        guard let parsed = MultipartType(type) else { return nil }
        if let own = parsed.boundary { return own.utf8.elementsEqual(boundary.utf8) ? type : nil }
        let end = type.utf8.lastIndex { $0 != 0x20 && $0 != 0x09 && $0 != UInt8(ascii: ";") }
        return "\(end.map { type[...$0] } ?? ""); \(MultipartType.parameter(boundary))"
    }
}
