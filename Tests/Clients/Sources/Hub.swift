import Dispatch
import Errand
import Foundation

// A service with one base class for plain, typed and download endpoints.

enum Hub {
    // `nonisolated` is needed only in the module whose default isolation is the main actor.
    nonisolated static let agent = RequestAgent(
        configuration: Configuration(baseURL: "https://api.hub.example/v3"))
}

class HubRequest: BaseRequest {
    var seen = 0
    override var agent: RequestAgent { Hub.agent }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.apiVersion = "v3"
        request.json.path = ["data"]
        request.json.keys = .snakeCase
        request.download?.existingFile = .rename
        request.download?.resumes = false
    }
    override var retryPolicy: RetryPolicy? { .attempts(2) }
    override func willStart() { seen += 1 }
}

final class Star: HubRequest {
    override var url: EndpointURL { "star" }
    override var method: HTTPMethod { .put }
}

final class GetIssue: HubRequest, DecodableOutput {
    typealias Output = Issue
    let number: Int
    init(number: Int) { self.number = number }
    override var url: EndpointURL { "issues/\(number)" }
    override func didFinish() { tag = output?.number ?? 0 }
}

/// A generic base class for endpoints with pages.
class HubList<Item: Codable & Sendable>: HubRequest, DecodableOutput {
    typealias Output = [Item]
    var page = 1
    override var arguments: Arguments? { ["page": page] }
}

final class ListIssues: HubList<Issue> {
    override var url: EndpointURL { "issues" }
}

final class Motto: HubRequest, TypedRequest {
    override var url: EndpointURL { "motto" }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.acceptance.format = .text
    }
    var decoder: ResponseDecoder<String> { .string }
}

final class Archive: HubRequest, FileOutput {
    let folder: URL
    init(folder: URL) { self.folder = folder }
    override var url: EndpointURL { "archive.tar" }
    var download: DownloadPlan {
        .to(folder) {
            $0.sha256 = String(repeating: "0", count: 64)
        }
    }
}

nonisolated struct Issue: Codable {
    var number: Int
    var title: String
}

/// Uses the service on the main actor.
@MainActor
final class HubModel {
    var title = ""
    var task: RequestTask?
    let issue = GetIssue(number: 7)
    let other = RequestAgent(configuration: Configuration(baseURL: "https://b.example"))

    func awaiting(folder: URL) async throws {
        try await Star().send()
        title = try await issue.value().title
        title = try await ListIssues().value().map(\.title).joined()
        title = try await Motto().value() + Archive(folder: folder).value().path
        title = "\(issue.seen) \(issue.output?.title ?? "")"
        let (one, motto, file) = try await BatchRequest.Typed(
            GetIssue(number: 1), Motto(), Archive(folder: folder)
        ).value()
        title = one.title + motto + file.path
        let chain = ChainRequest()
        chain.add(issue).then { issue in issue.output == nil ? nil : Motto() }
        chain.deadline = .seconds(30)
        try await chain.send()
        // The closure of several statements has the type of its member.
        let typed = ChainRequest.Typed<Issue> { chain in
            let motto = chain.add(Motto(), named: "motto")
            return chain.add(named: "issue") {
                guard let number = Int(try motto.output) else { throw CancellationError() }
                return GetIssue(number: number)
            }
        }
        title = try await typed.value(on: other).title
    }

    func closures() {
        issue.start { self.title = $0.output?.title ?? "" }
        issue.start { issue in
            self.title = "\(issue.number)"
        } failure: { _, error in
            self.title = error.message
        }
        issue.start { issue, value in
            self.title = "\(issue.number) \(value.title)"
        } failure: { issue, error in
            self.title = "\(issue.number) \(error.message)"
        }
        issue.start { self.title = $1.title }
        // One closure for both ends.
        issue.start(finished: { issue in
            if case .success(let value) = issue.outputResult { self.title = value.title }
        })
        Star().start(finished: { star in
            if case .success(let response) = star.result {
                self.title = "\(star.seen) \(response.statusCode)"
            }
        })
        BatchRequest.Typed(GetIssue(number: 1), Motto()).start { _, values in
            self.title = values.0.title + values.1
        } failure: { batch, error in
            self.title = "\(batch.requests.count) \(error.message)"
        }
        InlineRequest("log").stream { _, chunk in
            self.title = "\(chunk.count)"
        } success: { _ in
        } failure: { _, error in
            self.title = error.message
        }
    }

    func agentAtTheCall() async throws {
        title = try await issue.value(on: other).title
        try await Star().send(on: other)
        async let motto = Motto().value(on: other)
        title = try await motto
        issue.start(on: other) { self.title = $0.output?.title ?? "" }
        issue.start(on: other) { _ in
        } failure: {
            self.title = $1.message
        }
        let batch = BatchRequest([issue, Star(), BatchRequest([Motto()])])
        batch.deadline = .seconds(10)
        try await batch.send(on: other) { $0.suspend() }
        batch.start(on: other) { self.title = "\($0.results.count)" }
        batch.repeatsOnlyFailures = true
        try await batch.send(on: other)
        let (one, two) = try await BatchRequest.Typed(GetIssue(number: 1), Motto())
            .value(on: other)
        title = one.title + two
    }

    func tasks() async throws {
        try await issue.value { self.task = $0 }
        try await issue.send(onStart: { $0.suspend() })
        try await issue.value(on: other) { task in task.priority = .high }
        title = "\(String(describing: issue.task?.phase))"
    }

    func inline() async throws {
        title = try await InlineRequest("issues/7", agent: Hub.agent).decoding(Issue.self).value()
            .title
        let issues = InlineRequest("issues").decoding([Issue].self, at: ["data"])
        title = try await issues.value(on: other).first?.title ?? ""
        let others: [Issue] = try await InlineRequest("issues").decoding().value()
        title = others.first?.title ?? ""
    }
}

/// Starts from synchronous code outside the main actor.
nonisolated func startAnywhere(_ queue: DispatchQueue) {
    GetIssue.start(GetIssue(number: 7), queue: queue) { _, issue in
        print(issue.title)
    } failure: { _, error in
        print(error)
    }
    GetIssue.start(GetIssue(number: 7), on: Hub.agent, queue: queue) { request in
        print(request.seen)
    } failure: { request, error in
        print(request.number, error)
    }
    let batch = BatchRequest([GetIssue(number: 1), Star()], policy: .collectAll)
    batch.deadline = .seconds(10)
    let task = BatchRequest.start(batch, on: Hub.agent, queue: queue) { batch in
        print(batch.results.count)
    } failure: { _, error in
        print(error)
    }
    task.cancel()
    let chain = ChainRequest()
    chain.add(Star()).then { star in GetIssue(number: star.seen) }
    ChainRequest.start(chain, queue: queue) { _ in
    } failure: { _, error in
        print(error)
    }
}

/// Names endpoints by their classes.
nonisolated func byClass() {
    Hub.agent.configuration.prepare = { request in
        if request.isA(GetIssue.self) { request.url = "\(request.url)?full=1" }
    }
    Hub.agent.configuration.retryDecider = {
        $0.description.isA(HubRequest.self) ? .asPolicy : .giveUp
    }
    Hub.agent.cancelAll { $0.isA(ListIssues.self) }
}

/// A listener that counts the events of one class of endpoints.
nonisolated struct IssueListener: RequestEventListener {
    func handle(_ event: RequestEvent) {
        if event.isA(GetIssue.self) { print(event.kind) }
    }
}
