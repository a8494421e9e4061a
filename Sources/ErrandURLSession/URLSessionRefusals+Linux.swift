#if canImport(FoundationNetworking)
    import ErrandCore

    extension URLSessionRefusals {
        /// What only FoundationNetworking cannot do.
        static func platformRefusal(of request: TransportRequest) -> String? {
            // NB: Swift 6.3.1 fails such addresses with -1000.
            request.url.host?.hasPrefix("[") == true
                ? "cannot connect to IPv6 addresses written as such on Linux" : nil
        }
    }
#endif
