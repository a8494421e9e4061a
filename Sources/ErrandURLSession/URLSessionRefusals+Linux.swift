#if canImport(FoundationNetworking)
    import ErrandTransport

    extension URLSessionRefusals {
        /// The reason why FoundationNetworking alone cannot send the request; `nil` if there is none.
        static func platformRefusal(of request: TransportRequest) -> String? {
            // In Swift 6.3.1, requests to IPv6 literals fail with -1000 (bad URL).
            request.url.host?.starts(withBytes: "[") == true
                ? "cannot connect to IPv6 literals on Linux" : nil
        }
    }
#endif
