#if Tracing
    import ErrandCore
    import ErrandTransport
    import Synchronization
    import Tracing

    /// The span of a request, from its start to its end.
    final class RequestSpan: Sendable {
        private let tracer: any Tracer
        private let span: any Tracing.Span
        private let urls: SanitizedURL
        /// The number of transfers so far.
        private let transfers = Atomic<Int>(0)

        /// Starts the span, as a child of the current one.
        init(_ tracer: any Tracer, _ description: RequestDescription, _ urls: SanitizedURL) {
            self.tracer = tracer
            self.urls = urls
            span = tracer.startSpan(description.endpoint, ofKind: .internal)
            span.updateAttributes { attributes in
                attributes[HTTPAttribute.endpoint] = description.endpoint
                attributes[HTTPAttribute.tag] = description.tag
            }
        }

        /// Starts the span of a transfer.
        func transfer(_ request: TransportRequest) -> TransferSpan {
            let number = transfers.add(1, ordering: .relaxed).oldValue
            return TransferSpan(tracer, request, in: span.context, number, urls)
        }

        /// Adds an event that is not that of a transfer; the last one ends the span.
        func add(_ event: RequestEvent) {
            if case .ended(let error) = event.kind { return end(event, error) }
            guard let (name, attributes) = Self.text(of: event.kind) else { return }
            span.addEvent(SpanEvent(name: name, attributes: SpanAttributes(attributes)))
        }

        private func end(_ event: RequestEvent, _ error: RequestError?) {
            span.updateAttributes { attributes in
                attributes[HTTPAttribute.task] = "\(event.taskID)"
                let status = event.response?.statusCode ?? error?.response?.statusCode
                if let status { attributes[HTTPAttribute.status] = status }
                attributes[HTTPAttribute.source] = event.response?.source.rawValue
                attributes[HTTPAttribute.errorType] = error.map(HTTPAttribute.type(of:))
            }
            if let error { span.fail(error) }
            span.end()
        }

        private static func text(
            of kind: RequestEvent.Kind
        ) -> (name: String, attributes: [String: SpanAttribute])? {
            switch kind {
            case .cacheHit(_, let source):
                ("errand.cache.hit", [HTTPAttribute.source: .string(source.rawValue)])
            case .cacheMiss(.invalidCacheTime): nil
            case .cacheMiss(let reason):
                ("errand.cache.miss", ["errand.cache.reason": .string(reason.rawValue)])
            case .joined: ("errand.joined", [:])
            case .queued: ("errand.queued", [:])
            case .dequeued: ("errand.dequeued", [:])
            case .rateLimited: ("errand.rate_limited", [:])
            case .waitingForConnectivity: ("errand.waiting_for_connectivity", [:])
            case .suspended: ("errand.suspended", [:])
            case .continued: ("errand.continued", [:])
            case .webSocket(.opened): ("errand.websocket.opened", [:])
            case .webSocket(.closed(let close)):
                (
                    "errand.websocket.closed",
                    [HTTPAttribute.closeCode: .int64(Int64(close.code.rawValue))]
                )
            case .retrying(_, let error):
                (
                    "errand.retrying",
                    [HTTPAttribute.errorType: .string(HTTPAttribute.type(of: error))]
                )
            default: nil
            }
        }
    }

    /// The span of one transfer.
    final class TransferSpan: Sendable {
        private let span: any Tracing.Span
        private let startedAt: DefaultTracerClock.Timestamp

        /// The context that the server receives.
        var context: ServiceContext { span.context }

        init(
            _ tracer: any Tracer, _ request: TransportRequest, in context: ServiceContext,
            _ number: Int, _ urls: SanitizedURL
        ) {
            let method = HTTPAttribute.name(of: request.method)
            let now = DefaultTracerClock.now
            startedAt = now
            span = tracer.startSpan(
                method == "_OTHER" ? "HTTP" : method, context: context, ofKind: .client,
                at: now)
            span.updateAttributes { attributes in
                attributes[HTTPAttribute.method] = method
                if method != request.method.rawValue {
                    attributes[HTTPAttribute.originalMethod] = request.method.rawValue
                }
                attributes[HTTPAttribute.url] = urls.text(request.url)
                attributes[HTTPAttribute.address] = request.url.host
                attributes[HTTPAttribute.port] = request.url.observedPort
                if number > 0 { attributes[HTTPAttribute.resendCount] = number }
                if let size = request.body?.lengthToSend {
                    attributes[HTTPAttribute.requestBodySize] = size
                }
            }
        }

        /// Adds the phases, the response or the error, and ends the span.
        func end(_ response: Response?, _ end: TransferEnd) {
            add(end.timings)
            span.updateAttributes { attributes in
                if let response { Self.set(response, end.timings, in: &attributes) }
                if let error = end.error {
                    attributes[HTTPAttribute.errorType] = HTTPAttribute.type(of: error)
                } else if let status = response?.statusCode, status >= 400 {
                    attributes[HTTPAttribute.errorType] = "\(status)"
                }
            }
            if let error = end.error {
                span.fail(error)
            } else if let response, response.statusCode >= 400 {
                span.setStatus(SpanStatus(code: .error))
            }
            span.end()
        }

        private static func set(
            _ response: Response, _ timings: AttemptTimings, in attributes: inout SpanAttributes
        ) {
            attributes[HTTPAttribute.status] = response.statusCode
            attributes[HTTPAttribute.responseBodySize] = timings.bytesReceived
            attributes[HTTPAttribute.protocolVersion] = response.httpVersion.map(
                HTTPAttribute.name(of:))
            guard let peer = response.remoteAddress, let colon = peer.lastIndex(ofByte: ":"),
                let port = Int(peer[peer.utf8.index(after: colon)...])
            else { return }
            attributes[HTTPAttribute.peerAddress] = peer[..<colon].trimmingBrackets
            attributes[HTTPAttribute.peerPort] = port
        }

        private func add(_ timings: AttemptTimings) {
            let phases = [
                ("errand.name_looked_up", timings.nameLookedUp),
                ("errand.connected", timings.connected), ("errand.secured", timings.secured),
                ("errand.first_byte", timings.firstByte),
            ]
            for (name, time) in phases {
                guard let time else { continue }
                span.addEvent(SpanEvent(name: name, at: startedAt.advanced(by: time)))
            }
        }
    }

    extension Tracing.Span {
        /// Records an error; a cancellation is not a failure.
        fileprivate func fail(_ error: RequestError) {
            guard !error.isCancellation else { return }
            recordError(error)
            setStatus(SpanStatus(code: .error, message: error.message))
        }
    }

    extension DefaultTracerClock.Timestamp {
        fileprivate func advanced(by duration: Duration) -> Self {
            Self(
                nanosecondsSinceEpoch: nanosecondsSinceEpoch
                    &+ UInt64(duration.clamped.wholeNanoseconds))
        }
    }

    extension Substring {
        /// The text of an IPv6 address without its brackets.
        fileprivate var trimmingBrackets: String {
            String(hasPrefix("[") && hasSuffix("]") ? dropFirst().dropLast() : self)
        }
    }
#endif
