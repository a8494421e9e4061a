import ErrandCore
import ErrandTesting
import ErrandTransport
import TestSupport
import Testing

/// The values that events have.
@Suite(.limited) struct EventContentTests {
    private let transport = ScriptedTransport()
    private let events = EventRecorder()
    private let clock = ManualClock()

    private func agent(change: (inout Configuration) -> Void = { _ in }) -> RequestAgent {
        var configuration = Configuration(baseURL: "https://api.example.com")
        configuration.eventListeners = [events]
        change(&configuration)
        return RequestAgent(configuration: configuration, transport: transport, clock: clock)
    }

    private let description = RequestDescription(endpoint: "GetUser", url: "/users")

    @Test func onlyTheEndOfASuccessHasAResponse() async throws {
        transport.on(.get, "/users", .json("{}", status: .created))
        _ = try await agent().start(description).response()
        let responses = events.events.map(\.response?.status)
        #expect(responses.last == .created)
        #expect(responses.dropLast().allSatisfy { $0 == nil })
    }

    @Test func endOfAFailureHasNoResponse() async throws {
        transport.on(.get, "/users", .json("{}", status: .badGateway))
        _ = try? await agent().start(description).response()
        #expect(events.names.last == "ended")
        #expect(events.events.allSatisfy { $0.response == nil })
    }

    @Test func circuitBreakerReportsEachChange() async throws {
        transport.on(
            .get, "/users", ScriptedResponse(status: .badGateway),
            ScriptedResponse(status: .badGateway), ScriptedResponse())
        let agent = agent {
            $0.circuitBreaker = CircuitBreakerPolicy(failures: 1, pause: .seconds(30))
        }
        for _ in 0..<3 {
            _ = try? await agent.start(description).response()
            // Refused: no change.
            _ = try? await agent.start(description).response()
            clock.advance(by: .seconds(30))
        }
        let states = events.events.compactMap { event in
            if case .circuitChanged("api.example.com", let state) = event.kind {
                state
            } else {
                nil
            }
        }
        #expect(states == [.open, .halfOpen, .open, .halfOpen, .closed])
    }
}
