/// Carries what happens to a task, on any thread, to the accessories of its request, on the main actor.
@MainActor
final class AccessoryRelay {
    private weak var request: BaseRequest?

    init(request: BaseRequest) { self.request = request }

    func tell(_ change: RequestTask.Change) {
        guard let request else { return }
        for accessory in request.everyAccessory {
            switch change {
            case .willSuspend: accessory.requestWillSuspend(request)
            case .didResume: accessory.requestDidResume(request)
            case .willCancel: accessory.requestWillCancel(request)
            case .ended: break
            }
        }
    }
}
