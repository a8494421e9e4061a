import Dispatch
import Errand

nonisolated private final class Sent: BaseRequest {
    override var url: EndpointURL { "sent" }
}

nonisolated func useAfterStart(_ queue: DispatchQueue) {
    let request = Sent()
    Sent.start(request, queue: queue) { _ in
    } failure: { _, _ in
    }
    request.tag = 1
}

// race in Swift 6: sending 'request' risks causing data races [#SendingRisksDataRace]
// race in main actor: sending 'request' risks causing data races [#SendingRisksDataRace]
