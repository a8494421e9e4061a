import ErrandSystem
package import HTTPTypes

/// The digests of a file in the fields of its response; pure.
package enum DigestFields {
    /// The digests, at most one for each algorithm, in the order of preference: SHA-256, SHA-512, SHA-1, MD5.
    ///
    /// If fields contradict each other, the first of `Repr-Digest`, `Content-Digest` (RFC 9530), `Digest` (RFC 3230),
    /// `x-goog-hash` and `Content-MD5` counts. Malformed fields and unknown algorithms are ignored.
    ///
    /// - Parameter isWhole: Whether the content of the response is the whole file. `Content-Digest` and `Content-MD5`
    ///   apply to the content, the others to the whole file.
    package static func digests(
        in headers: HTTPFields, isWhole: Bool
    ) -> [DownloadedFile.Digest] {
        // The digests of an encoded body are those of its encoded bytes.
        guard !headers.haveContentCoding else { return [] }
        var found: [DownloadedFile.Digest.Algorithm: DownloadedFile.Digest] = [:]
        func add(_ digests: [DownloadedFile.Digest]) {
            for digest in digests where found[digest.algorithm] == nil {
                found[digest.algorithm] = digest
            }
        }
        func field(_ name: HTTPField.Name?) -> String? { Self.field(name, headers) }
        add(field(HTTPField.Name("Repr-Digest")).map(dictionary) ?? [])
        if isWhole { add(field(contentDigest).map(dictionary) ?? []) }
        add(field(HTTPField.Name("Digest")).map(pairs) ?? [])
        // Cloud Storage decompresses objects that were stored with a content coding; the hash is that of the stored
        // bytes.
        let stored = field(HTTPField.Name("x-goog-stored-content-encoding"))?.lowercasedASCII()
        if stored == nil || stored == "identity" {
            add(field(HTTPField.Name("x-goog-hash")).map(pairs) ?? [])
        }
        if isWhole, let text = field(contentMD5) {
            add(digest(.md5, base64: text[...]).map { [$0] } ?? [])
        }
        return DownloadedFile.Digest.Algorithm.allCases.compactMap { found[$0] }
    }

    /// The digests of the content of a response, which is a part of the file: `Content-Digest` (RFC 9530 §2) and
    /// `Content-MD5`; at most one for each algorithm.
    package static func contentDigests(in headers: HTTPFields) -> [DownloadedFile.Digest] {
        var digests = field(contentDigest, headers).map(dictionary) ?? []
        if let text = field(contentMD5, headers), !digests.contains(where: { $0.algorithm == .md5 })
        {
            digests += digest(.md5, base64: text[...]).map { [$0] } ?? []
        }
        return digests
    }

    private static let contentDigest = HTTPField.Name("Content-Digest")
    private static let contentMD5 = HTTPField.Name("Content-MD5")

    private static func field(_ name: HTTPField.Name?, _ headers: HTTPFields) -> String? {
        let lines = name.map { headers[values: $0] } ?? []
        return lines.isEmpty ? nil : lines.joined(separator: ", ")
    }

    /// A dictionary of byte sequences (RFC 9530 §3, RFC 9651 §3.2); empty if it is malformed.
    static func dictionary(_ text: String) -> [DownloadedFile.Digest] {
        var digests: [DownloadedFile.Digest.Algorithm: DownloadedFile.Digest] = [:]
        // Not ListElements: a blank member makes the field malformed.
        for member in QuotedSplitter(text[...], at: UInt8(ascii: ",")) where !member.isEmpty {
            let parts = member.pieces(at: "=", maxSplits: 1, keepingEmpty: true)
            let key = parts[0].trimmingBlanks()
            guard !key.isEmpty else { return [] }
            guard parts.count == 2, let algorithm = algorithm(named: String(key)) else { continue }
            // Parameters follow the value after a semicolon, which base64 does not contain.
            let value = parts[1].prefix(upToByte: ";").trimmingBlanks()
            guard let base64 = value.dropping(prefix: ":")?.dropping(suffix: ":") else { return [] }
            // The last member of a name counts.
            digests[algorithm] = digest(algorithm, base64: base64)
        }
        return Array(digests.values)
    }

    /// Pairs of a name and a base64 value (RFC 3230 §4.1.1).
    static func pairs(_ text: String) -> [DownloadedFile.Digest] {
        text.pieces(at: ",").compactMap { member in
            let parts = member.pieces(at: "=", maxSplits: 1, keepingEmpty: true)
            guard parts.count == 2,
                let algorithm = algorithm(named: parts[0].trimmingBlanks().lowercasedASCII())
            else { return nil }
            return digest(algorithm, base64: parts[1].trimmingBlanks())
        }
    }

    private static func algorithm(named name: String) -> DownloadedFile.Digest.Algorithm? {
        switch name {
        case "sha-256", "id-sha-256": .sha256
        case "sha-512", "id-sha-512": .sha512
        case "sha": .sha1
        case "md5": .md5
        default: nil
        }
    }

    private static func digest(
        _ algorithm: DownloadedFile.Digest.Algorithm, base64: Substring
    ) -> DownloadedFile.Digest? {
        guard let bytes = Data(base64Encoded: String(base64)), bytes.count == algorithm.byteCount
        else { return nil }
        return DownloadedFile.Digest(algorithm, bytes: bytes)
    }
}
