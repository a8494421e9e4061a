#if os(Linux)
    import ErrandTransport

    /// The transport's errors, with advice.
    enum CurlFailure {
        static func timedOut(_ kind: RequestError.TimeoutKind, limits: Timeouts?) -> RequestError {
            let message: String
            switch kind {
            case .connect:
                let limit = limits?.connect.map { " within \($0)" } ?? ""
                message =
                    "Could not connect\(limit). Check the host, or raise timeouts.connect."
            case .idle, .attempt, .total:
                let limit = limits?.idle.map { " for \($0)" } ?? ""
                message = "Nothing was sent or received\(limit). Try again, or raise timeouts.idle."
            }
            return RequestError(.timedOut, stage: .transport, message, timeout: kind)
        }

        static func badResponse(_ fault: HeadParseError) -> RequestError {
            ResponseFault.head(fault).error(host: "")
        }

        static var missingCloseNotify: RequestError {
            RequestError(
                .truncatedBody, stage: .transport,
                "The connection was closed without a TLS close_notify, so the response body may be truncated. "
                    + "Make the server announce a length, or send close_notify.")
        }

        static var lostBeforeResponse: RequestError {
            RequestError(
                .connectionLost, stage: .transport,
                "A reused connection was lost before the response. The server may have read the request, "
                    + "so it was not repeated automatically.")
        }

        static var cannotStart: RequestError {
            RequestError(
                .transportFailed, stage: .transport,
                "The transfer could not start: the system lacks memory, file descriptors or threads."
            )
        }

        static var shutDown: RequestError {
            RequestError(
                .agentShutDown, stage: .transport,
                "The transport was shut down. Use another one for new requests.")
        }

        static var unknown: RequestError {
            RequestError(.transportFailed, stage: .transport, "The transfer failed. Try again.")
        }

    }

#endif
