extension TransportOptions {
    /// The default of ``maximumDecodingRatio``; the fastest level of deflate exceeds it for a body of zeros.
    package static var defaultDecodingRatio: Int { 200 }
    /// The ratio that the default allows for the first bytes; repetitive JSON can come close to it.
    private static var earlyDecodingRatio: Int { 1000 }
    /// The number of decoded bytes up to which the early ratio applies.
    private static var earlyBytes: Int64 { 4 << 20 }

    /// The maximum ratio after this number of decoded bytes; `nil` means no limit.
    package static func decodingRatio(_ ratio: Int?, after decoded: Int64) -> Int? {
        ratio == defaultDecodingRatio && decoded <= earlyBytes ? earlyDecodingRatio : ratio
    }
}
