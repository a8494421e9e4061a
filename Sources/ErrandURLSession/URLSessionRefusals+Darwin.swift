#if canImport(Darwin)
    import ErrandCore

    extension URLSessionRefusals {
        /// What only Foundation on Apple platforms cannot do.
        static func platformRefusal(of request: TransportRequest) -> String? { nil }
    }
#endif
