// Each `fault` names the first setting whose value is invalid, and the values that are valid.

extension RedirectPolicy {
    package var fault: String? {
        maximumCount < 0
            ? "redirectPolicy.maximumCount is \(maximumCount). Set 0 to deliver redirects, or more."
            : nil
    }
}

extension RetryPolicy {
    package var fault: String? {
        if maximumAttempts < 1 {
            return "retryPolicy.maximumAttempts is \(maximumAttempts). Set 1 for no retry, or more."
        }
        if let attemptTimeout, attemptTimeout <= .zero {
            return
                "retryPolicy.attemptTimeout is \(attemptTimeout). Set more than zero, or nil for no limit."
        }
        let isNegative = baseDelay < .zero || maximumDelay < .zero || maximumRetryAfter < .zero
        return isNegative ? "A delay of retryPolicy is negative. Set zero or more." : nil
    }
}

extension TransportOptions {
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
