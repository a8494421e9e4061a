import Errand

nonisolated private final class Kept: BaseRequest {
    override var url: EndpointURL { "kept" }
}

actor Keeper {
    private let stored = Kept()

    func run() async {
        await stored.start()
    }
}

// race in Swift 6: sending 'self.stored' risks causing data races [#SendingRisksDataRace]
// race in main actor: sending 'self.stored' risks causing data races [#SendingRisksDataRace]
