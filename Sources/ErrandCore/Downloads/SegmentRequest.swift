import ErrandHTTP
package import HTTPTypes

/// One request of a download: its range, and what its response must match.
package struct SegmentRequest: Sendable, Hashable {
    package let segment: SegmentPlanner.Segment
    package let start: DownloadStart
    package let rules: RangeRules
    /// Whether the validator is weak, so that it must not be sent (RFC 9110 §13.1.5).
    let isWeak: Bool

    /// - Parameter version: The version of the file of which bytes are present; `nil` requests the whole file.
    init(_ segment: SegmentPlanner.Segment, _ version: DownloadVersion?) {
        self.segment = segment
        guard let version else {
            (start, rules, isWeak) = (.fresh, RangeRules(), false)
            return
        }
        start = .resume(
            offset: segment.start, validator: version.validator, total: version.total)
        isWeak = version.isWeak
        rules = RangeRules(
            overlap: version.isWeak ? min(version.overlap, segment.start) : 0,
            isOtherURL: version.isOtherURL, hasNoValidator: version.validator.isEmpty)
    }

    /// Sets the fields of the request.
    package func apply(to headers: inout HTTPFields) {
        // Ranges of an encoded body would not match the bytes of the file.
        headers[.acceptEncoding] = "identity"
        guard case .resume(let offset, let validator, let total) = start else { return }
        let end = segment.end < total ?? .max ? String(segment.end - 1) : ""
        headers[.range] = "bytes=\(offset - rules.overlap)-\(end)"
        if !isWeak { headers[.ifRange] = validator }
    }
}

/// A version of the file on the server.
struct DownloadVersion: Sendable, Hashable {
    /// Empty if there is none and only the length is compared.
    var validator: String
    var isWeak = false
    var total: Int64?
    /// The number of bytes to request again if the validator is weak.
    var overlap: Int64 = 0
    /// Whether the next request goes to another URL than the one that is recorded.
    var isOtherURL = false
}
