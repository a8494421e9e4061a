import ErrandCore
import ErrandJSON
import ErrandRecording
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandInspector

/// An agent with a scripted transport, a recorder, and the calls of the page.
struct InspectorFixture {
    let transport = ScriptedTransport()
    let clock = ManualClock()
    let recorder: InspectorRecorder
    let agent: RequestAgent
    let api: InspectorAPI

    /// - Parameter isPageOpen: Whether a page has just called, so that requests have events.
    init(
        limits: InspectorRecorder.Limits = InspectorRecorder.Limits(), isPageOpen: Bool = true,
        redaction: RedactionRules = .standard, _ change: (inout Configuration) -> Void = { _ in }
    ) {
        recorder = InspectorRecorder(limits: limits, clock: clock)
        var configuration = Configuration(baseURL: "https://api.example.com")
        configuration.eventListeners = [recorder]
        change(&configuration)
        agent = RequestAgent(configuration: configuration, transport: transport, clock: clock)
        api = InspectorAPI(agent: agent, recorder: recorder, redaction: redaction)
        if isPageOpen { recorder.pageCalled() }
    }

    func description(
        _ url: String, _ change: (inout RequestDescription) -> Void = { _ in }
    ) -> RequestDescription {
        var description = RequestDescription(endpoint: "GetIssue", url: EndpointURL(raw: url))
        change(&description)
        return description
    }

    /// Starts a request and waits for its end; errors are in its record.
    @discardableResult
    func run(
        _ url: String, _ change: (inout RequestDescription) -> Void = { _ in }
    ) async -> RequestError? {
        let task = agent.start(description(url, change))
        return await task.outcome().error
    }

    /// The JSON of a call.
    func get(
        _ path: String, _ query: [String: String] = [:], status: Int = 200
    ) async throws -> JSON {
        try await json("GET", path, query, Data(), status)
    }

    @discardableResult
    func post(_ path: String, _ body: String = "{}", status: Int = 200) async throws -> JSON {
        try await json("POST", path, [:], Data(body.utf8), status)
    }

    private func json(
        _ method: String, _ path: String, _ query: [String: String], _ body: Data, _ status: Int
    ) async throws -> JSON {
        let reply = await api.reply(method: method, path: path, query: query, body: body)
        #expect(reply.status == status, "\(String(decoding: reply.body, as: UTF8.self))")
        return try JSON(parsing: reply.body)
    }

    func text(_ path: String, _ query: [String: String]) async -> String {
        let reply = await api.reply(method: "GET", path: path, query: query, body: Data())
        return String(decoding: reply.body, as: UTF8.self)
    }

    /// Waits until a record has a property.
    func until(
        _ id: Int = 1, _ condition: @Sendable (InspectedRequest) -> Bool
    ) async -> InspectedRequest {
        while true {
            let revision = recorder.revision
            if let request = recorder.record(id)?.request, condition(request) { return request }
            await recorder.change(after: revision)
        }
    }
}
