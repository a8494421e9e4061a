import Errand
import Foundation

/// Endpoints on the main actor: stored, started with closures, and awaited.
@MainActor
final class ViewModel {
    var title = ""
    var errors: [String] = []
    var running: [RequestTask] = []
    let held = GetUser(id: 7)
    let spinner = Spinner()
    let listener = Listener()
    let agent = RequestAgent(configuration: Configuration(baseURL: "https://api.example.com"))

    func closures() {
        let task = Register(username: "a", password: "b").start { request in
            self.title = "\(request.userId ?? 0) after \(request.attempts)"
        } failure: { request, error in
            self.errors.append("\(request.username): \(error)")
        }
        running = [task, held.start(), Nick().start { self.title = $0.output ?? "" }]
        task.suspend()
        task.resume()
        task.cancel()
    }

    func awaiting() async throws {
        held.accessories = [spinner]
        held.observe(weakly: spinner)
        held.observe { event, unit in if event == .didStop { self.title = "\(unit.tag)" } }
        held.delegate = listener
        let user = try await held.value(on: agent)
        title = user.nick
        let response = try await held.send()
        title = "\(response.statusCode) \(held.output?.nick ?? "") \(response.isFromCache)"
        async let other = GetUser(id: 8).value()
        title = try await other.nick
        for await progress in held.start().progress { title = "\(progress.bytesReceived)" }
    }

    func errorsOf() async {
        do {
            try await Users().value()
        } catch {
            // Typed throws: the error is a RequestError without a cast.
            errors.append(
                "\(error.code) \(error.stage) \(error.shapeFault?.path.description ?? "")")
            if error.code == .cancelled || error.underlying is BusinessError { return }
        }
    }

    func composites() async throws {
        let batch = BatchRequest([held, Nick(), Users()], policy: .collectAll, maxConcurrent: 2)
        batch.accessories = [spinner]
        batch.start { batch in
            self.title = "\(batch.results.count)"
        } failure: { batch, error in
            self.errors.append("\(String(describing: batch.failedRequest)) \(error)")
        }
        try await batch.send()
        let (user, nick) = try await BatchRequest.Typed(GetUser(id: 1), Nick()).value()
        title = user.nick + nick

        let chain = ChainRequest()
        chain.add(Register(username: "a", password: "b"))
            .then { register in GetUser(id: register.userId ?? 0) }
            .then { user in user.output == nil ? nil : Nick() }
        chain.recover { member, _ in member is Nick ? .proceed : .stop }
        chain.start { self.title = "\($0.requests.count)" }
        try await chain.send()
    }

    func oneOff() async throws {
        let request = InlineRequest("/ping") {
            $0.method = .post
            $0.arguments = ["at": 1]
            $0.validator = ["ok": .bool]
        }
        request.attach(success: { self.title = "\($0.method)" })
        try await request.send()
    }
}

final class Spinner: RequestAccessory {
    var turns = 0
    func requestWillStart(_ request: BaseRequest) { turns += 1 }
    func requestDidStop(_ request: BaseRequest) { turns -= 1 }
    func compositeWillStart(_ composite: CompositeRequest) { turns += composite.requests.count }
}

final class Listener: RequestDelegate {
    var last: Int?
    func requestDidFinish(_ request: BaseRequest) { last = request.response?.statusCode }
    func requestDidFail(_ request: BaseRequest, _ error: RequestError) {
        last = request.error?.response?.statusCode
    }
}
