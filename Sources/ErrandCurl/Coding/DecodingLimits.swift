import ErrandTransport

/// The limits of the bytes that the stages of a ``DecodingChain`` produce.
///
/// The last stage produces the body. The output of an earlier stage is limited too: the next stage
/// may drop it, as padding or as empty blocks, so that a few encoded bytes would cause unbounded
/// work without any body.
package struct DecodingLimits: Sendable, Hashable {
    /// A limit that a stage has exceeded.
    package enum Excess: Sendable, Hashable {
        /// The maximum number of bytes of the body.
        case bytes(Int64)
        /// The maximum ratio to the encoded bytes.
        case ratio(Int)
    }

    /// The number of bytes of a stage that are allowed regardless of the ratio, and of an earlier
    /// stage in addition to those of the body.
    private static let exemptBytes: Int64 = 64 << 10

    private let maximumBytes: Int64?
    private let maximumRatio: Int?

    /// Creates limits; `nil` means no limit.
    ///
    /// - Parameter maximumRatio: See ``TransportOptions/maximumDecodingRatio``.
    package init(maximumBytes: Int64?, maximumRatio: Int?) {
        self.maximumBytes = maximumBytes
        self.maximumRatio = maximumRatio
    }

    /// Returns the limit that a stage has exceeded.
    ///
    /// - Parameters:
    ///   - produced: The bytes that the stage has produced.
    ///   - consumed: The encoded bytes that the first stage has consumed.
    ///   - isBody: Whether the stage is the last one, whose output is the body.
    func excess(produced: Int64, consumed: Int64, isBody: Bool) -> Excess? {
        if let maximumBytes, produced > Self.allowedBytes(maximumBytes, isBody: isBody) {
            return .bytes(maximumBytes)
        }
        guard produced > Self.exemptBytes,
            let ratio = TransportOptions.decodingRatio(maximumRatio, after: produced)
        else { return nil }
        let (allowed, overflows) = consumed.multipliedReportingOverflow(by: Int64(ratio))
        guard !overflows, produced > allowed else { return nil }
        return .ratio(ratio)
    }

    /// The bytes that a stage may produce for a body of this size.
    ///
    /// An earlier stage may produce more than the body has, because a coding adds a header, and a
    /// header to each block.
    private static func allowedBytes(_ maximum: Int64, isBody: Bool) -> Int64 {
        guard !isBody else { return maximum }
        let (doubled, overflows) = maximum.multipliedReportingOverflow(by: 2)
        return overflows ? .max : max(doubled, doubled &+ exemptBytes)
    }
}
