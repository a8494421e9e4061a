import ErrandTesting
import Foundation

/// The issues of the repository.
struct IssueTable: Sendable {
    private struct Issue: Sendable {
        var number: Int
        var title: String
        var state = "open"
        var author: String
        var due: String?

        var json: [String: Any] {
            var value: [String: Any] = [
                "number": number, "title": title, "state": state, "author_login": author,
                "created_at": "2026-03-01T09:00:00Z",
            ]
            value["due_at"] = due
            return value
        }
    }

    private var issues: [Issue]
    private var last: Int

    init() {
        let titles = ["The lamp flickers", "Paint the railing", "Oil the hinges of the door"]
        issues = (1...23).map {
            Issue(number: $0, title: titles[$0 % titles.count], author: "octavia")
        }
        last = issues.count
    }

    var open: [[String: Any]] { issues.filter { $0.state == "open" }.map(\.json) }

    /// A page of the list, with a link to the next one.
    func page(_ call: Router.Call) -> LoopbackResponse {
        let size = max(1, call.query["per_page"].flatMap { Int($0) } ?? 30)
        let number = max(1, call.query["page"].flatMap { Int($0) } ?? 1)
        let state = call.query["state"] ?? "open"
        let matches = issues.filter { $0.state == state }
        let page = matches.dropFirst((number - 1) * size).prefix(size)
        var headers: [LoopbackHeader] = []
        if number * size < matches.count {
            let next = "\(call.request.path)?state=\(state)&per_page=\(size)&page=\(number + 1)"
            headers.append(LoopbackHeader("Link", "<\(next)>; rel=\"next\""))
        }
        return .json(page.map(\.json), headers: headers)
    }

    mutating func create(_ call: Router.Call, by author: String) -> LoopbackResponse {
        let body = call.json
        guard let title = body["title"] as? String, !title.isEmpty else {
            return .problem(
                "The issue is not valid.", status: 422, fields: ["title": "A title is required."],
                call.request)
        }
        last += 1
        let issue = Issue(
            number: last, title: title, author: author, due: body["due_at"] as? String)
        issues.append(issue)
        return .json(issue.json, status: 201)
    }

    func get(_ call: Router.Call) -> LoopbackResponse {
        guard let index = index(call) else { return missing(call) }
        return .json(
            issues[index].json, headers: [LoopbackHeader("Cache-Control", "max-age=60")])
    }

    mutating func edit(_ call: Router.Call) -> LoopbackResponse {
        guard let index = index(call) else { return missing(call) }
        let body = call.json
        if let title = body["title"] as? String { issues[index].title = title }
        if let state = body["state"] as? String { issues[index].state = state }
        return .json(issues[index].json)
    }

    mutating func delete(_ call: Router.Call) -> LoopbackResponse {
        guard let index = index(call) else { return missing(call) }
        issues.remove(at: index)
        return LoopbackResponse(status: 204)
    }

    private func index(_ call: Router.Call) -> Int? {
        let number = call.path["number"].flatMap { Int($0) }
        return issues.firstIndex { $0.number == number }
    }

    private func missing(_ call: Router.Call) -> LoopbackResponse {
        .problem("There is no issue \(call.path["number"] ?? "").", status: 404, call.request)
    }
}
