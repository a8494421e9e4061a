package import ErrandSystem
import HTTPTypes

extension MultipartBody {
    /// The length in bytes if known without reading the parts; `nil` with files and streams of unknown length.
    package var knownLength: Int64? {
        var total = Int64(closing.count)
        for part in parts {
            guard let length = part.body.knownLength else { return nil }
            let count = Int64(head(of: part).count) + Int64(Self.lineBreak.count)
            let (sum, overflows) = total.addingReportingOverflow(length)
            guard !overflows, sum <= .max - count else { return nil }
            total = sum + count
        }
        return total
    }

    package func head(of part: Part) -> Data {
        var text = "--\(boundary)\r\n"
        let headers = part.headers
        let hasOwn = { (name: HTTPField.Name) in headers.contains(name) }
        if let name = part.name, !hasOwn(.contentDisposition) {
            text +=
                "Content-Disposition: form-data; name=\"\(Self.escaped(Self.normalizingLineBreaks(name)))\""
            if let filename = part.filename {
                text += "; filename=\"\(Self.escaped(filename))\""
                if part.sendsExtendedFilename { text += Self.extended(filename) }
            }
            text += "\r\n"
        }
        // A part that is multipart itself needs its boundary, too.
        let completed = { (type: String) in part.body.completing(type) ?? type }
        if let type = part.body.contentType, !hasOwn(.contentType) {
            text += "Content-Type: \(completed(type))\r\n"
        }
        for field in headers {
            let value = field.name == .contentType ? completed(field.value) : field.value
            text += "\(field.name.rawName): \(value)\r\n"
        }
        return Data((text + "\r\n").utf8)
    }

    package var closing: Data { Data("--\(boundary)--\r\n".utf8) }

    package static let lineBreak = Data("\r\n".utf8)

    /// The name with all line breaks as CRLF, as form names require (WHATWG HTML §4.10.21.8).
    private static func normalizingLineBreaks(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return name }
        var bytes: [UInt8] = []
        var previous: UInt8 = 0
        for byte in name.utf8 {
            if byte == 0x0A || byte == 0x0D {
                if !(byte == 0x0A && previous == 0x0D) { bytes += [0x0D, 0x0A] }
            } else {
                bytes.append(byte)
            }
            previous = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The name with line breaks and quotes escaped (WHATWG HTML §4.10.21.8).
    private static func escaped(_ name: String) -> String {
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case 0x0A: bytes += "%0A".utf8
            case 0x0D: bytes += "%0D".utf8
            case UInt8(ascii: "\""): bytes += "%22".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The `filename*` parameter for a non-ASCII name (RFC 8187); empty for other names.
    private static func extended(_ name: String) -> String {
        guard !name.utf8.allSatisfy({ $0 < 0x80 }) else { return "" }
        var bytes = Array("; filename*=UTF-8''".utf8)
        PercentEncoding.append(name.utf8, keeping: extendedBytes, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let extendedBytes = ByteSet.alphanumeric.union("!#$&+-.^_`|~")

    package func checkBoundary() throws(RequestError) {
        let isValid =
            (1...70).contains(boundary.utf8.count) && boundary.utf8.last != 0x20
            && boundary.utf8.allSatisfy(Self.boundaryBytes.contains)
        guard isValid else {
            throw invalid(
                "The multipart boundary must have 1 to 70 letters, digits or characters of '()+_,-./:=? and must "
                    + "not end with a space (RFC 2046 §5.1.1). Omit it to use a random one.")
        }
    }

    package func check(_ part: Part) throws(RequestError) {
        let name = (part.name ?? "").debugDescription
        for (what, text) in [("name", part.name), ("file name", part.filename)]
        where text?.utf8.contains(0) == true {
            throw invalid("The \(what) of the part \(name) contains a NUL. Remove it.")
        }
        guard part.body.contentType?.isFieldValue != false else {
            throw invalid(
                "The content type of the part \(name) contains a control character, such as a line break. "
                    + "Remove it.")
        }
        if let type = part.headers[.contentType] ?? part.body.contentType,
            part.body.completing(type) == nil
        {
            throw invalid(
                "The part \(name) has parts of its own, and a content type that is not multipart/… with their "
                    + "boundary. Remove the content type, or write it without a boundary.")
        }
        guard part.body.trailerSource == nil else {
            throw invalid(
                "The part \(name) has trailers, which only a whole request can have. "
                    + "Add them to the multipart body.")
        }
        if let fault = part.headers.nameFault {
            throw invalid("The part \(name) has a header named \(fault).")
        }
    }

    private func invalid(_ message: String) -> RequestError {
        RequestError(.invalidBody, stage: .build, message)
    }

    private static let boundaryBytes = ByteSet.alphanumeric.union("'()+_,-./:=? ")
}
