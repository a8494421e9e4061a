import ErrandCore
import ErrandHTTP
import ErrandJSON
import ErrandRecording
import ErrandSystem
import ErrandTransport
import HTTPTypes

/// The calls of the page; independent of the server.
final class InspectorAPI: Sendable {
    /// A response to the page.
    struct Reply: Sendable {
        var status = 200
        var contentType = "application/json"
        var body: Data
        /// The name of a file to save; `nil` shows the body.
        var fileName: String?

        /// An error with a sentence.
        static func failure(_ status: Int, _ message: String) -> Reply {
            struct Failure: Encodable { var error: String }
            let body = try? JSONWriter().encode(Failure(error: message))
            return Reply(status: status, body: body ?? Data())
        }
    }

    /// The changes since a revision, as JSON.
    struct Changes: Sendable, Encodable {
        /// Identifies the inspector; the page forgets everything if it changes.
        var session: String
        /// The revision for the next call.
        var revision: Int
        /// The number of the first request that is kept.
        var first: Int
        /// The changed requests, by number or, if there are many, by their latest change.
        var rows: [InspectedRow]
        /// Whether the next call returns further changes at once.
        var more: Bool
    }

    /// The maximum number of rows in a reply.
    static let maximumRows = 1000

    private let agent: RequestAgent
    private let recorder: InspectorRecorder
    private let redactionRules: RedactionRules
    /// The rules with the agent's present names.
    private var redaction: RedactionRules { redactionRules.adding(agent.configuration.secretNames) }
    private let session: String
    private let writer: MessageWriter

    /// The longest time for which a call waits for a change.
    static let maximumWait = Duration.seconds(10)

    init(agent: RequestAgent, recorder: InspectorRecorder, redaction: RedactionRules) {
        self.agent = agent
        self.recorder = recorder
        redactionRules = redaction
        session = String(AccessCheck.makeToken().prefix(16))
        writer = MessageWriter(
            rules: redaction, maximumBodyBytes: recorder.limits.bodyBytes)
    }

    /// Performs a call.
    ///
    /// - Parameters:
    ///   - method: `GET` reads, `POST` changes.
    ///   - path: The path without the prefix `/api/`, such as `requests/7`.
    ///   - query: The decoded arguments.
    ///   - body: The JSON of a `POST`.
    func reply(
        method: String, path: String, query: [String: String], body: Data
    ) async -> Reply {
        let parts = path.pieces(at: "/").map(String.init)
        recorder.pageCalled()
        // A call may wait for changes.
        defer { recorder.pageCalled() }
        do {
            switch (method, parts.first ?? "", parts.count) {
            case ("GET", "changes", 1):
                let wait = Int(query["wait"] ?? "") ?? 0
                return try await json(
                    changes(after: Int(query["since"] ?? "") ?? 0, wait: .milliseconds(wait)))
            case ("GET", "requests", 2), ("GET", "requests", 3): return try detail(parts, query)
            case ("POST", "requests", 3): return act(parts)
            case ("GET", "har", 1): return try archive(query["ids"])
            case ("GET", "state", 1): return try json(AgentState(agent, recorder, redaction))
            case ("GET", "store", 1):
                return try json(await StoredEntryList(agent.store, redaction))
            case ("POST", "store", 2): return try await removeEntry(parts[1])
            case ("GET", "rules", 1): return try json(rules)
            case ("POST", "rules", 1): return try replaceRules(body)
            case ("POST", "replay", 1): return try replay(body)
            case ("POST", "clear", 1):
                recorder.clear()
                return done
            default: return .failure(404, "There is no call \(method) /api/\(path).")
            }
        } catch let error as RequestError {
            return .failure(422, error.message)
        } catch {
            return .failure(400, "The JSON of the call is not valid: \(error)")
        }
    }

    private var done: Reply { Reply(body: Data("{}".utf8)) }

    private func json(_ value: some Encodable) throws -> Reply {
        Reply(body: try JSONWriter().encode(value))
    }

    // MARK: - Requests

    /// The changes after a revision; waits for one if there is none.
    func changes(after revision: Int, wait: Duration) async -> Changes {
        if wait > .zero, recorder.revision <= revision {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.recorder.change(after: revision) }
                group.addTask { try? await Task.sleep(for: min(wait, Self.maximumWait)) }
                await group.next()
                group.cancelAll()
            }
        }
        // Read before the records: a change meanwhile is reported again by the next call.
        let current = recorder.revision
        var changed = recorder.records.compactMap { $0.change(after: revision) }
        let hasMore = changed.count > Self.maximumRows
        if hasMore {
            changed.sort { $0.revision < $1.revision }
            changed.removeSubrange(Self.maximumRows...)
        }
        return Changes(
            session: session, revision: hasMore ? changed.last?.revision ?? current : current,
            first: recorder.firstID, rows: rows(changed.map(\.request)), more: hasMore)
    }

    private func rows(_ requests: [InspectedRequest]) -> [InspectedRow] {
        let now = recorder.clock.uptime
        let tasks = RunningTasks(agent, of: requests)
        return requests.map {
            InspectedRow(
                tasks.completed($0), now: now, obstacle: tasks.obstacle(of: $0),
                redaction: redaction)
        }
    }

    private func detail(_ parts: [String], _ query: [String: String]) throws -> Reply {
        guard let record = Int(parts[1]).flatMap(recorder.record) else { return missing(parts[1]) }
        let request = record.request
        guard parts.count == 3 else {
            let row = rows([request])
            return try json(InspectedDetail(request, row[0], writer))
        }
        if parts[2] == "messages" { return try messages(request, from: query["since"]) }
        guard parts[2] == "copy" else { return .failure(404, "There is no call \(parts[2]).") }
        return try copy(request, as: query["as"] ?? "")
    }

    /// The messages of the WebSocket of a request, from a number on.
    private func messages(_ request: InspectedRequest, from number: String?) throws -> Reply {
        guard let transfer = request.transfers.last,
            let conversation = transfer.messages.conversation
        else { return .failure(404, "Request \(request.id) is no WebSocket.") }
        return try json(
            InspectedMessages(
                conversation, from: number.flatMap { Int($0) } ?? 0,
                limit: recorder.limits.messages,
                writer.adding(transfer.messages.request.options.secretNames)))
    }

    private func copy(_ request: InspectedRequest, as format: String) throws -> Reply {
        if format == "har" { return try archive("\(request.id)") }
        guard let transfer = request.transfers.first else {
            return .failure(422, "Nothing was sent, so there is nothing to copy.")
        }
        let text: String
        switch format {
        case "curl": text = try curl(writer.entry(transfer.messages).request)
        case "swift":
            let entry = writer.entry((request.transfers.last ?? transfer).messages)
            var first = writer.entry(transfer.messages)
            first.response = entry.response
            text = SwiftEndpointSource.text(of: request, first)
        default: return .failure(404, "There is no format \(format). Use curl, swift or har.")
        }
        return Reply(contentType: "text/plain; charset=utf-8", body: Data(text.utf8))
    }

    /// The command line of a request without secrets.
    private func curl(_ message: HAR.Request) throws(RequestError) -> String {
        var headers = HTTPFields()
        for header in message.headers {
            guard let name = HTTPField.Name(header.name) else { continue }
            headers.append(HTTPField(name: name, value: header.value))
        }
        let body = message.postData.map { content in
            let isBase64 = content.encoding == "base64"
            let data = isBase64 ? Data(base64Encoded: content.text ?? "") : nil
            return data ?? Data((isBase64 ? "" : content.text ?? "").utf8)
        }
        let url: HTTPURL
        do {
            url = try HTTPURL(parsing: message.url)
        } catch {
            throw RequestError(.invalidURL, stage: .build, "The URL is not valid: \(error)")
        }
        var request = TransportRequest(
            method: HTTPMethod(message.method), url: url, headers: headers,
            body: body.map { .data($0, contentType: nil) })
        request.options.decodesContent = headers.contains(.acceptEncoding)
        return request.curlCommand(redactsSecrets: false)
    }

    private func archive(_ ids: String?) throws -> Reply {
        let wanted = ids.map { Set($0.pieces(at: ",").compactMap { Int($0) }) }
        var entries: [HAR.Entry] = []
        for record in recorder.records where wanted?.contains(record.id) ?? true {
            let request = record.request
            entries += request.transfers.filter { $0.end != nil }.map { writer.entry($0.messages) }
        }
        var reply = try json(HAR(entries: entries))
        reply.fileName = "errand.har"
        return reply
    }

    private func missing(_ id: String) -> Reply {
        .failure(404, "Request \(id) is not recorded any more. Raise Options.maximumRequests.")
    }

    /// Cancels, suspends, resumes, or decides about a held transfer.
    private func act(_ parts: [String]) -> Reply {
        guard let record = Int(parts[1]).flatMap(recorder.record) else { return missing(parts[1]) }
        switch parts[2] {
        case "proceed", "fail":
            let decision: TransferRuleEngine.Decision = parts[2] == "proceed" ? .proceed : .fail
            guard recorder.rules.decide(decision, record.id) else {
                return .failure(409, "Request \(record.id) is not held any more.")
            }
            return done
        case "cancel", "suspend", "resume":
            let id = record.request.taskID
            guard let task = agent.activeTasks.first(where: { $0.id == id }) else {
                return .failure(409, "Request \(record.id) has ended.")
            }
            switch parts[2] {
            case "cancel": task.cancel()
            case "suspend": task.suspend()
            default: task.resume()
            }
            // No event reports the change of a request without events.
            if !record.start.observesEvents { recorder.touch(record) }
            return done
        default: return .failure(404, "There is no action \(parts[2]).")
        }
    }

    private func replay(_ body: Data) throws -> Reply {
        struct Started: Encodable { var task: String }
        let replay = try JSONReader().decode(Replay.self, from: body)
        guard let record = recorder.record(replay.id) else { return missing("\(replay.id)") }
        let recorded = record.request
        guard let transfer = recorded.transfers.first else {
            return .failure(422, "Nothing was sent, so there is nothing to send again.")
        }
        let request = try replay.request(of: transfer, redaction: redaction)
        let task = agent.start(Replay.description(request, of: recorded))
        return try json(Started(task: task.id.uuidString))
    }

    // MARK: - Rules and store

    private struct Rules: Codable {
        var rules: [TransferRule]
        var uses: [String: Int]?
        /// Grows with each change, so that the page can ignore a list that arrives after a newer one.
        var revision: Int?
    }

    private var rules: Rules {
        let state = recorder.rules.rules
        return Rules(rules: state.rules, uses: state.uses, revision: state.revision)
    }

    private func replaceRules(_ body: Data) throws -> Reply {
        let rules = try JSONReader().decode(Rules.self, from: body).rules
        if let problem = rules.lazy.compactMap(\.problem).first { return .failure(422, problem) }
        recorder.rules.replace(rules)
        return try json(self.rules)
    }

    private func removeEntry(_ hash: String) async throws -> Reply {
        guard let store = agent.store else { return .failure(409, "The agent has no store.") }
        for entry in try await store.entries() where String(entry.key.hash64, radix: 16) == hash {
            try await store.remove(entry.key)
        }
        return done
    }
}
