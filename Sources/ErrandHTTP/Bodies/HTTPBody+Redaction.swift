import ErrandSystem

// Descriptions and dumps end up in logs, so they show no contents.

extension HTTPBody: CustomStringConvertible, CustomReflectable {
    /// The kind, the size if it is known, the content type and the names of trailers; not the content.
    public var description: String {
        let kind =
            switch storage {
            case .data(let data): "\(data.count) bytes"
            case .file(let url): "file \(url.lastPathComponent)"
            case .stream(let length?, _): "stream of \(length) bytes"
            case .stream(nil, _): "stream"
            case .multipart(let multipart):
                "\(multipart.parts.count) part\(multipart.parts.count == 1 ? "" : "s")"
            case .value: "JSON value"
            case .invalid(let error): "invalid (\(error.code))"
            }
        let trailers =
            trailerSource.map { ", trailers " + $0.names.map(\.rawName).joined(separator: ", ") }
            ?? ""
        return "HTTPBody: \(kind)\(contentType.map { ", \($0)" } ?? "")\(trailers)"
    }

    /// No children; the description has all that is not secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension HTTPBody.Part: CustomReflectable {
    /// The parts of the part, without the content of its body and without secret headers.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": name as Any, "filename": filename as Any, "body": body,
                "headers": headers.redacted,
            ], displayStyle: .struct)
    }
}
