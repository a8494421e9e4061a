import ErrandSystem

// Dumps end up in logs, so they contain no credentials, bodies or queries.

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
