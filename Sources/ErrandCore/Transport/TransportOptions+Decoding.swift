extension TransportOptions {
    /// The default of ``maximumDecodingRatio``: what deflate's fastest level makes of zeros is above it.
    package static var usualDecodingRatio: Int { 200 }
    /// What the default allows while little has been decoded: regular JSON comes near it, and is small.
    private static var earlyDecodingRatio: Int { 1000 }
    /// What counts as little, in bytes.
    private static var earlyBytes: Int64 { 4 << 20 }

    /// How many times larger than its encoded form a body may be of which so much has been decoded; `nil` has no limit.
    package static func decodingRatio(_ ratio: Int?, after decoded: Int64) -> Int? {
        ratio == usualDecodingRatio && decoded <= earlyBytes ? earlyDecodingRatio : ratio
    }
}
