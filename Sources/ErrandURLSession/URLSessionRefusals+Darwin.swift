#if canImport(Darwin)
    import ErrandTransport

    extension URLSessionRefusals {
        /// The reason why this platform's Foundation cannot send the request; `nil` on Apple platforms.
        static func platformRefusal(of request: TransportRequest) -> String? { nil }
    }
#endif
