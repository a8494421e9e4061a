import ErrandSystem

// Mistakes of the caller get the same errors from every transport, with the stage `build`.
extension TransportRequest {
    /// Throws if the request or its options contain a mistake that no transport can carry out.
    ///
    /// - Throws: ``RequestError/Code/invalidURL``, ``RequestError/Code/invalidMethod``,
    ///   ``RequestError/Code/invalidHeader``, ``RequestError/Code/invalidCombination``,
    ///   ``RequestError/Code/invalidConfiguration`` or ``RequestError/Code/unsupported``, with the stage
    ///   ``RequestError/Stage/build``.
    package func checkForMistakes() throws(RequestError) {
        if shared.has(.isCorrect) { return }
        try checkURL()
        try checkHeaders()
        try method.check()
        if method == .head, body != nil {
            throw RequestError(
                .invalidCombination, stage: .build,
                "A HEAD request cannot have a body. Remove the body, or use another method.")
        }
        try body?.checkTrailers()
        try timeouts.check()
        guard !options.hasDefaults else { return shared.note(.isCorrect) }
        // A certificate may expire.
        try options.checkForMistakes(host: host ?? "", isSecure: isSecure, now: Date())
    }
}

extension HTTPMethod {
    /// Throws ``RequestError/Code/invalidMethod`` if the method is not a token, because it could end the request
    /// line and start another, and ``RequestError/Code/unsupported`` for CONNECT.
    package func check() throws(RequestError) {
        guard isToken else {
            throw RequestError(
                .invalidMethod, stage: .build,
                "The method is not a token. Use letters, such as GET, without spaces.")
        }
        // Its target is a host and a port, and its response has no body but a tunnel (RFC 9110 §9.3.6).
        guard rawValue != "CONNECT" else {
            throw RequestError(
                .unsupported, stage: .build,
                "CONNECT cannot be sent as a request. Set transportOptions.proxy to use a proxy's tunnel."
            )
        }
    }
}

extension Timeouts {
    /// Throws ``RequestError/Code/invalidConfiguration`` if a limit is zero or less.
    package func check() throws(RequestError) {
        try Self.check(connect, "connect")
        try Self.check(idle, "idle")
        try Self.check(total, "total")
    }

    private static func check(_ limit: Duration?, _ name: String) throws(RequestError) {
        guard let limit, limit <= .zero else { return }
        throw RequestError(
            .invalidConfiguration, stage: .build,
            "timeouts.\(name) is \(limit); it must be greater than zero, or nil for no limit.")
    }
}
