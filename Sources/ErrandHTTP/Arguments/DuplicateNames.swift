extension ArgumentEncoding.DuplicateNames {
    /// The part of encoded arguments that is appended to a query.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments`` for a name in both, with ``refuse``.
    package func resolve(
        _ arguments: String, beside query: String
    ) throws(RequestError) -> String {
        switch self {
        case .append, .replace: return arguments
        case .keepFirst, .refuse: break
        }
        let names = QueryPairs.names(of: query)
        let kept = QueryPairs.pairs(of: arguments).filter {
            !names.contains(QueryPairs.name(of: $0))
        }
        if self == .refuse {
            let refused = QueryPairs.pairs(of: arguments).map(QueryPairs.name)
                .first(where: names.contains)
            if let refused {
                throw RequestError(
                    .invalidArguments, stage: .build,
                    "The argument \(String(decoding: refused, as: UTF8.self).debugDescription) is in the query "
                        + "of the URL too. Remove one of them, or set argumentEncoding.duplicateNames."
                )
            }
        }
        return kept.joined(separator: "&")
    }
}

extension HTTPURL {
    /// Removes the pairs from the query whose names occur in another query.
    package mutating func removeQuery(namesOf other: String) {
        guard let query, !query.isEmpty, !other.isEmpty else { return }
        let names = QueryPairs.names(of: other)
        let kept = QueryPairs.pairs(of: query).filter { !names.contains(QueryPairs.name(of: $0)) }
        self.query = kept.isEmpty ? nil : kept.joined(separator: "&")
    }
}

/// The pairs of a query in form encoding.
private enum QueryPairs {
    static func pairs(of query: String) -> [Substring] { query.pieces(at: "&") }

    /// The decoded name of a pair.
    static func name(of pair: Substring) -> [UInt8] {
        let name = pair.utf8.prefix { $0 != UInt8(ascii: "=") }
        return PercentEncoding.decode(name.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 })
    }

    static func names(of query: String) -> Set<[UInt8]> { Set(pairs(of: query).map(name)) }
}
