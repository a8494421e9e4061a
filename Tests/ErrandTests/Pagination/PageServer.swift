import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization

/// A server for one page.
///
/// It counts requests and supports ETag validation, redirects and held responses.
@dynamicMemberLookup
final class PageServer: Sendable {
    struct State {
        var headers = HTTPFields()
        var status = 200
        var count = 0
        var confirmsEveryValidator = false
        var redirectsOnce = false
        var gate: Gate?
    }

    private let state = Mutex(State())

    /// The settings for the next responses, and the number of requests so far.
    subscript<Value: Sendable>(
        dynamicMember member: any WritableKeyPath<State, Value> & Sendable
    ) -> Value {
        get { state.withLock { $0[keyPath: member] } }
        set { state.withLock { $0[keyPath: member] = newValue } }
    }

    func respond(to request: TransportRequest) -> ScriptedResponse {
        let (response, gate) = state.withLock { state -> (ScriptedResponse, Gate?) in
            state.count += 1
            var headers = state.headers
            headers[.contentType] = "application/json"
            if let name = HTTPField.Name("X-Count") { headers[name] = "\(state.count)" }
            if state.redirectsOnce {
                state.redirectsOnce = false
                headers[.location] = "/elsewhere"
                return (ScriptedResponse(status: .found, headers: headers), state.gate)
            }
            let validator = request.headers[.ifNoneMatch]
            if let validator, validator == headers[.eTag] || state.confirmsEveryValidator {
                return (ScriptedResponse(status: .notModified, headers: headers), state.gate)
            }
            let body = request.method == .head ? "" : #"{"count":\#(state.count)}"#
            return (
                ScriptedResponse(
                    status: .init(code: state.status), headers: headers, body: Data(body.utf8)),
                state.gate
            )
        }
        return gate.map { response.held(by: $0) } ?? response
    }
}
