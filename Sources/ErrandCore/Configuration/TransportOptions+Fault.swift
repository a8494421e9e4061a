package import ErrandHTTP

extension TransportOptions {
    /// The first setting whose value is invalid, and the values that are valid.
    package var fault: String? {
        guard !hasDefaults else { return nil }
        func fault<Number: BinaryInteger>(
            _ name: String, _ value: Number?, _ least: Number
        ) -> String? {
            guard let value, value < least else { return nil }
            return "transportOptions.\(name) is \(value). Set at least \(least)."
        }
        return fault("maximumBodyBytes", maximumBodyBytes, 0)
            ?? fault("maximumBytesInMemory", maximumBytesInMemory, 0)
            ?? fault("maximumDecodingRatio", maximumDecodingRatio, 1)
            ?? fault("maximumHeadBytes", maximumHeadBytes, 1)
            ?? fault("receiveBufferBytes", receiveBufferBytes, 1)
    }
}
