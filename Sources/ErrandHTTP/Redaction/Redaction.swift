import Foundation
package import HTTPTypes

// Descriptions, dumps and mirrors end up in logs, so they contain no credentials, bodies or queries. Names remain
// visible, and of bodies the size and the content type.

extension HTTPFields {
    /// The fields as text, without the values of those that contain secrets, and with URLs in their
    /// redacted forms.
    package var redacted: [String] { redacted(.standard) }

    /// As ``redacted``, by the names of an agent.
    func redacted(_ names: SecretNames) -> [String] {
        map { "\($0.name.rawName): \($0.redactedValue(names))" }
    }
}

extension HTTPField {
    /// The value without secrets.
    fileprivate func redactedValue(_ names: SecretNames) -> String {
        let name = name.canonicalName
        if names.isSecret(header: self.name.rawName) { return URLRedaction.placeholder }
        switch name {
        case "location", "content-location", "referer": return URLRedaction.reference(value)
        case "link": return URLRedaction.links(value)
        default: return URLRedaction.text(value)
        }
    }
}

extension Response.Link: CustomReflectable {
    /// The parts of the link, with URLs in their redacted forms.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "url": url, "relations": relations, "anchor": anchor as Any,
                "parameters": URLRedaction.parameters(parameters),
            ], displayStyle: .struct)
    }
}

extension Response: CustomReflectable {
    /// The parts of the response, without its body, the query of its URL and secret headers.
    ///
    /// The names of the request's agent are secret too.
    public var customMirror: Mirror {
        let names = sentRequest?.options.secretNames ?? .standard
        let size =
            switch body {
            case .data(let data): "\(data.count) bytes"
            case .file(let url): "file \(url.lastPathComponent)"
            }
        return Mirror(
            self,
            children: [
                "status": statusCode, "url": url.redacted, "source": source.rawValue,
                "headers": headers.redacted(names), "body": size,
                "trailers": trailers.redacted(names),
                "attempts": attempts, "timings": timings,
            ])
    }
}

extension RequestError: CustomReflectable {
    /// The parts of the error, with ``response`` and a ``RequestError`` in ``underlying`` in their
    /// redacted forms.
    ///
    /// Of other underlying errors and of ``body`` only the type is shown, since they may contain
    /// secrets.
    public var customMirror: Mirror {
        var children: [(label: String?, value: Any)] = [("description", description)]
        if let response { children.append(("response", response)) }
        if let underlying {
            let isSafe = underlying is RequestError
            children.append(
                ("underlying", isSafe ? underlying : String(describing: type(of: underlying))))
        }
        if !previousErrors.isEmpty { children.append(("previousErrors", previousErrors)) }
        if let body { children.append(("body", String(describing: type(of: body)))) }
        if let timings { children.append(("timings", timings)) }
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

extension URI: CustomDebugStringConvertible, CustomReflectable {
    /// The same as ``redacted``; `dump`, and `print` of a value that contains a URI, show it.
    public var debugDescription: String { redacted }
    /// No children, because user info and query may be secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
