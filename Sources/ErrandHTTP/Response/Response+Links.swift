import HTTPTypes

extension Response {
    /// A link of the `Link` header (RFC 8288).
    public struct Link: Sendable, Hashable {
        /// The target, resolved against the URL of the response.
        public var url: HTTPURL
        /// The relation types in lower case, such as `next`.
        public var relations: [String]
        /// The resource that the link starts from, resolved; `nil` if it is the response's own.
        public var anchor: HTTPURL?
        /// All parameters as text, with names in lower case; of repeated ones the first.
        public var parameters: [String: String]
    }

    /// The links of a response, in order.
    public struct Links: Sendable, Hashable, RandomAccessCollection {
        private let links: [Link]

        init(_ links: [Link]) { self.links = links }

        /// The position of the first link.
        public var startIndex: Int { links.startIndex }
        /// The position after the last link.
        public var endIndex: Int { links.endIndex }

        /// The link at a position.
        public subscript(position: Int) -> Link { links[position] }

        /// The target of the first link with a relation type, such as `next`; `nil` if there is none.
        ///
        /// Letter case does not matter. Links with an anchor belong to another resource and are not searched
        /// (RFC 8288 §3.2).
        public subscript(_ relation: String) -> HTTPURL? {
            let relation = relation.lowercasedASCII()
            return links.first { $0.anchor == nil && $0.relations.contains(relation) }?.url
        }
    }

    /// The links of the `Link` header fields (RFC 8288), parsed at every call.
    ///
    ///     let next = response.links["next"]
    ///
    /// A malformed link is left out, and the others of its field remain; so are links without a relation type, or with
    /// an invalid target. A field with more than 200 links has none.
    public var links: Links {
        guard let name = Self.linkField else { return Links([]) }
        let values = headers[fields: name].flatMap { LinkField.links(of: $0.receivedText) }
        return Links(values.compactMap { link(from: $0) })
    }

    private static let linkField = HTTPField.Name("Link")

    /// The value of a header field as text; `nil` if there is none.
    ///
    ///     let total = response.header("X-Total").flatMap { Int($0) }
    ///
    /// Letter case of the name does not matter. Values of repeated fields are joined with `, ` (RFC 9110 §5.3); of
    /// `Set-Cookie`, whose values cannot be joined, this is the first.
    public func header(_ name: String) -> String? {
        guard let name = HTTPField.Name(name) else { return nil }
        return name == .setCookie ? headers[values: name].first : headers[name]
    }

    private func link(from value: LinkField.Value) -> Link? {
        let relations = (value.parameters["rel"] ?? "").lowercasedASCII().utf8
            .split(whereSeparator: ByteSet(" \t").contains).map { String(Substring($0)) }
        guard !relations.isEmpty, let target = try? HTTPURL.resolve(value.target, against: url)
        else {
            return nil
        }
        var anchor: HTTPURL?
        if let text = value.parameters["anchor"] {
            // An anchor that cannot be resolved makes the origin of the link unknown.
            guard let resolved = try? HTTPURL.resolve(text, against: url) else { return nil }
            anchor = resolved == url ? nil : resolved
        }
        return Link(
            url: target, relations: relations, anchor: anchor,
            parameters: value.parameters)
    }
}
