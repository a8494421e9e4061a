#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // The peers of the connection.
    extension EasyHandle {
        /// Checks the connection against its pins; returns false and sets ``failure`` if they do
        /// not match.
        func matchesPins() -> Bool {
            guard let handle else { return true }
            do throws(RequestError) {
                for mismatch in try trust.checkPins(of: handle) {
                    receiver?.didNotice(mismatch)
                    // The receiver may have taken any time.
                    loop.sockets.expireIdleCheck()
                }
                return true
            } catch {
                if failure == nil { failure = error }
                return false
            }
        }

        /// Called before a TLS handshake, with its `SSL_CTX`; returns false if the peer's
        /// certificate cannot be checked.
        func handshakeWillStart(_ tls: UnsafeMutableRawPointer) -> Bool {
            guard let request = transfer?.request else { return false }
            return trust.handshakeWillStart(tls, to: request.url, request.options)
        }
    }
#endif
