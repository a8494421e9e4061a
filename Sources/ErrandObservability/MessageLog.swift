#if Logging
    import ErrandCore
    import ErrandRecording
    import ErrandTransport
    import HTTPTypes
    import Logging

    /// The lines with headers and bodies, at the level `trace`.
    struct MessageLog: Sendable {
        let bodies: BodyText

        private var redaction: RedactionRules { bodies.redaction }

        /// The log with the secret names of an agent in addition.
        func adding(_ names: SecretNames) -> MessageLog {
            var bodies = bodies
            bodies.redaction = bodies.redaction.adding(names)
            return MessageLog(bodies: bodies)
        }

        /// The line about a request before it is sent.
        func log(_ request: TransportRequest, attempt: Int, endpoint: String, to logger: Logger) {
            var url = request.url
            url.fragment = nil
            let text = redaction.url(url.string)
            var metadata = headers(request.headers, "http.request.header.")
            metadata[HTTPAttribute.url] = "\(text)"
            metadata[HTTPAttribute.method] = "\(request.method.rawValue)"
            let body = bodies.text(of: request.body, request.headers[.contentType])
            metadata["errand.request.body"] = body.map { "\($0)" }
            logger.trace(
                "\(endpoint) sends \(request.method.rawValue) \(text) (attempt \(attempt))",
                metadata: metadata)
        }

        /// The line about a response, or about the end without one.
        func log(
            _ response: Response?, _ end: TransferEnd, endpoint: String, to logger: Logger
        ) {
            guard let response else {
                let code = end.error.map { "\($0.code)" } ?? "no response"
                return logger.trace("\(endpoint) received nothing: \(code)")
            }
            var metadata = headers(response.headers, "http.response.header.")
            metadata[HTTPAttribute.status] = "\(response.statusCode)"
            let body = bodies.text(of: response, received: end.timings.bytesReceived)
            metadata["errand.response.body"] = body.map { "\($0)" }
            logger.trace("\(endpoint) received \(response.statusCode)", metadata: metadata)
        }

        /// The values of each field, as an array, without secrets.
        private func headers(_ fields: HTTPFields, _ prefix: String) -> Logger.Metadata {
            var metadata: Logger.Metadata = [:]
            for field in fields {
                let name = field.name.rawName
                let value: Logger.MetadataValue = "\(redaction.header(name, field.value))"
                let key = prefix + field.name.canonicalName
                if case .array(let values)? = metadata[key] {
                    metadata[key] = .array(values + [value])
                } else {
                    metadata[key] = [value]
                }
            }
            return metadata
        }
    }
#endif
