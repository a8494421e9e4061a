import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

#if Logging && Metrics && Tracing
    import InMemoryTracing
    import Logging
    import Metrics
    import MetricsTestKit
    import Tracing

    @testable import ErrandObservability

    /// Logs, metrics and spans of WebSockets.
    @Suite(.limited) struct WebSocketObservationTests {
        private let metrics = TestMetrics()
        private let log = LogRecorder()
        private let tracer = InMemoryTracer()

        /// Passes events to a listener, as a request does.
        private func pass(
            _ events: [RequestEvent.Kind], to listener: some RequestInstrument
        ) {
            var description = RequestDescription(
                endpoint: "Chat", url: "https://api.example.com/chat")
            listener.willStart(&description)
            for kind in events {
                listener.handle(
                    RequestEvent(
                        taskID: UUID(), endpoint: "Chat", tag: 0, uptime: .zero, kind: kind,
                        metadata: description.metadata))
            }
        }

        private func message(
            _ direction: WebSocketEvent.Message.Direction, count: Int = 1
        ) -> RequestEvent.Kind {
            .webSocket(
                .message(
                    WebSocketEvent.Message(
                        direction, isText: direction == .sent, count: count, bytes: 5,
                        bytesOnWire: 9, payload: Data("hidden".utf8))))
        }

        private func closed(_ code: UInt16, isClean: Bool = true) -> RequestEvent.Kind {
            .webSocket(
                .closed(
                    WebSocketClose(
                        code: .init(rawValue: code), reason: "the\nend", isClean: isClean)))
        }

        @Test func messagesAndBytesAreCountedByDirection() throws {
            pass(
                [message(.sent), message(.received), message(.received, count: 4)],
                to: MetricsListener(factory: metrics))
            func value(_ name: String, _ direction: String) throws -> Int64 {
                try metrics.expectCounter(
                    name, [("errand.endpoint", "Chat"), ("errand.direction", direction)]
                ).totalValue
            }
            #expect(try value("errand.websocket.messages", "sent") == 1)
            #expect(try value("errand.websocket.messages", "received") == 5)
            #expect(try value("errand.websocket.bytes", "sent") == 9)
            #expect(try value("errand.websocket.bytes", "received") == 18)
        }

        /// A server cannot create any number of series.
        @Test func closeCodesAreBounded() throws {
            let listener = MetricsListener(factory: metrics)
            pass(
                [1000, 1000, 1006, 3000, 3999, 4000, 4123, 2999, 65535].map { closed($0) },
                to: listener)
            func value(_ code: String) throws -> Int64 {
                try metrics.expectCounter(
                    "errand.websocket.closed",
                    [("errand.endpoint", "Chat"), ("errand.websocket.close_code", code)]
                ).totalValue
            }
            #expect(try value("1000") == 2)
            #expect(try value("1006") == 1)
            #expect(try value("3xxx") == 2)
            #expect(try value("4xxx") == 2)
            #expect(try value("_OTHER") == 2)
        }

        @Test func logHasNoPayload() throws {
            pass(
                [
                    .webSocket(.opened(subprotocol: "v2", extensions: "permessage-deflate")),
                    message(.sent), message(.received, count: 3),
                    .webSocket(.roundTrip(.milliseconds(30))), closed(1000),
                    closed(1006, isClean: false),
                ], to: LoggingListener(log.logger(.trace)))
            #expect(
                log.texts() == [
                    "info Chat opened a WebSocket, subprotocol v2, extensions permessage-deflate",
                    "debug Chat sent a text message, 5 B (9 B in frames)",
                    "debug Chat received 3 binary messages, 5 B (9 B in frames)",
                    "debug Chat WebSocket round trip 30 ms",
                    #"info Chat closed the WebSocket with 1000: "the\nend""#,
                    "info Chat closed the WebSocket with 1006, without close frames of both sides: "
                        + #""the\nend""#,
                ])
        }

        /// The span ends with the connection, and messages are no events of it.
        @Test func spanHasTheOpeningAndTheEnd() throws {
            // An active span and its tracer keep each other.
            defer { tracer.clearAll(includingActive: true) }
            let listener = TracingListener(tracer: tracer)
            pass(
                [.webSocket(.opened(subprotocol: nil, extensions: nil)), message(.sent)],
                to: listener)
            #expect(tracer.finishedSpans.isEmpty)
            pass(
                [
                    .webSocket(.opened(subprotocol: nil, extensions: nil)), message(.sent),
                    closed(1001), .ended(nil),
                ], to: listener)
            let span = try #require(tracer.finishedSpans.first)
            #expect(
                span.events.map(\.name) == ["errand.websocket.opened", "errand.websocket.closed"])
            #expect(
                span.events.last?.attributes.get("errand.websocket.close_code") == .int64(1001))
        }
    }
#endif
