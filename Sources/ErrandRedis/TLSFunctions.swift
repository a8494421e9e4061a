#if Redis
    import ErrandOpenSSL

    /// The functions of the OpenSSL that encrypts the connections of stores.
    final class TLSFunctions: Sendable {
        let contexts: OpenSSL.Contexts
        let connections: OpenSSL.Connections
        let transfers: OpenSSL.Transfers
        let streams: OpenSSL.Streams
        let verifications: OpenSSL.Verifications
        let errors: OpenSSL.Errors

        /// `nil` if no OpenSSL is installed that has all functions.
        static let installed: TLSFunctions? = {
            #if os(Linux)
                let openSSL = OpenSSL.installed()
                openSSL?.skipCleanup()
                return openSSL.flatMap { try? TLSFunctions($0) }
            #else
                return nil
            #endif
        }()

        init(_ openSSL: OpenSSL) throws(MissingFunction) {
            contexts = try openSSL.functions()
            connections = try openSSL.functions()
            transfers = try openSSL.functions()
            streams = try openSSL.functions()
            verifications = try openSSL.functions()
            errors = try openSSL.functions()
        }
    }
#endif
