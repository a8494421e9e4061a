import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization

/// A page that counts how often it was asked for.
@dynamicMemberLookup
final class Pages: Sendable {
    struct State {
        var headers = HTTPFields()
        var status = 200
        var count = 0
        var confirmsAnything = false
        var redirectsOnce = false
        var gate: Gate?
    }

    private let state = Mutex(State())

    /// What the page does next, and how often it was asked for.
    subscript<Value: Sendable>(
        dynamicMember member: any WritableKeyPath<State, Value> & Sendable
    ) -> Value {
        get { state.withLock { $0[keyPath: member] } }
        set { state.withLock { $0[keyPath: member] = newValue } }
    }

    func answer(to request: TransportRequest) -> ScriptedAnswer {
        let (answer, gate) = state.withLock { state -> (ScriptedAnswer, Gate?) in
            state.count += 1
            var headers = state.headers
            headers[.contentType] = "application/json"
            if let name = HTTPField.Name("X-Count") { headers[name] = "\(state.count)" }
            if state.redirectsOnce {
                state.redirectsOnce = false
                headers[.location] = "/elsewhere"
                return (ScriptedAnswer(status: .found, headers: headers), state.gate)
            }
            let asked = request.headers[.ifNoneMatch]
            if let asked, asked == headers[.eTag] || state.confirmsAnything {
                return (ScriptedAnswer(status: .notModified, headers: headers), state.gate)
            }
            let body = request.method == .head ? "" : #"{"count":\#(state.count)}"#
            return (
                ScriptedAnswer(
                    status: .init(code: state.status), headers: headers, body: Data(body.utf8)),
                state.gate
            )
        }
        return gate.map { answer.held(by: $0) } ?? answer
    }
}
