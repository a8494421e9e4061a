import Errand
import Foundation

/// Sends requests of the generated client to a service, and compares what comes back.
@main
@MainActor
enum Main {
    private static var failures = 0
    private static var count = 0

    private static func check(_ sentence: String, _ isTrue: Bool) {
        count += 1
        if isTrue { return }
        failures += 1
        print("service: not true: \(sentence)")
    }

    static func main() async {
        let url = CommandLine.arguments.dropFirst().first ?? ""
        let server = EndpointURL(stringLiteral: url)
        let reader = RequestAgent(configuration: Desk.configuration(baseURL: server))
        do {
            let token = try await LogIn(username: "ada", password: "p", grantType: "password")
                .value(on: reader)
            check("The form is read.", token.accessToken == "ada")
            let text = token.accessToken
            let writer = RequestAgent(
                configuration: Desk.configuration(
                    baseURL: server, credentials: Desk.oauth2PasswordBearer { text },
                    hosts: "127.0.0.1"))
            try await read(reader)
            try await write(writer, reader)
            try await others(reader)
        } catch {
            check("The requests succeed: \(error)", false)
        }
        print("service: \(count - failures) of \(count) checks")
        exit(failures == 0 ? 0 : 1)
    }

    /// Pages, variants, dates, recursion and parameters.
    private static func read(_ agent: RequestAgent) async throws {
        var numbers: [Int] = []
        for try await issue in ListIssues().items(on: agent) { numbers.append(issue.number) }
        check("Pages follow each other by the header Link.", numbers.starts(with: [1, 2, 3, 4, 5]))
        let second = try await GetIssue(number: 2).value(on: agent)
        check("An issue contains an issue.", second.parent?.number == 1)
        check(
            "A date with a time is read.", second.createdAt.timeIntervalSince1970 == 1_769_860_800)
        if case .milestone(let milestone)? = second.marks?.first {
            check("A date is read.", milestone.due == FullDate(year: 2026, month: 2, day: 2))
        } else {
            check("The mark is a milestone.", false)
        }
        check("Other members are kept.", second.weights == ["a": 0.5])
        let found = try await Search(
            ids: [3, 1], states: [.closed, .open], xTrace: "t-1"
        ).value(on: agent)
        check("Lists and headers arrive.", found.ids == [3, 1] && found.trace == "t-1")
        check("Values of an enumeration arrive.", found.states == [.closed, .open])
        let motto = try await Motto().value(on: agent)
        check("Text is read.", motto.contains("One thing at a time."))
    }

    /// Bodies, credentials, and errors by status.
    private static func write(_ agent: RequestAgent, _ anonymous: RequestAgent) async throws {
        let new = NewIssue(
            title: "Leak", assignee: Person(name: "Ada"),
            marks: [.label(Label(color: "00ff00"))], weights: ["b": 2])
        let created = try await CreateIssue(newIssue: new).value(on: agent)
        check("The body arrives.", created.title == "Leak" && created.assignee?.name == "Ada")
        if case .label(let label)? = created.marks?.first {
            check("The variant arrives.", label.color == "00ff00")
        } else {
            check("The mark is a label.", false)
        }
        let changed = try await ChangeIssue(
            number: created.number, issueChange: IssueChange(state: .closed)
        ).value(on: agent)
        check(
            "A member that is nil is left out.", changed.state == .closed && changed.title == "Leak"
        )
        try await DeleteIssue(number: created.number).value(on: agent)
        do {
            _ = try await GetIssue(number: created.number).value(on: agent)
            check("The issue is deleted.", false)
        } catch {
            check("The status is 404.", error.response?.statusCode == 404)
            check("The error has its type.", error.body(as: Problem.self)?.detail.isEmpty == false)
        }
        do {
            _ = try await CreateIssue(newIssue: NewIssue(title: "")).value(on: agent)
            check("An empty title is refused.", false)
        } catch {
            let fault = error.body(as: HTTPValidationError.self)?.detail?.first
            check("The status decides the type of the error.", fault?.msg.isEmpty == false)
        }
        do {
            _ = try await CreateIssue(newIssue: new).value(on: anonymous)
            check("A token is needed.", false)
        } catch {
            check("Without a token the status is 401.", error.response?.statusCode == 401)
        }
        let body = try JSON(parsing: JSONWriter.requestDefault.encode(NewIssue(title: "")))
        check(
            "The shape of the body finds what the service refuses.",
            CreateIssue.bodyShape?.matches(body) == false)
    }

    /// Files, events, and a response that comes later.
    private static func others(_ agent: RequestAgent) async throws {
        let stored = try await Store(
            file: .data("", Data("jpeg".utf8), filename: "a.jpg"), tags: ["x", "y"], note: "n"
        ).value(on: agent)
        check("The file arrives.", stored.name == "a.jpg" && stored.size == 4)
        check("The fields arrive.", stored.tags == ["x", "y"] && stored.note == "n")
        var states: [State] = []
        // A client of events connects again after the end of a stream.
        for try await change in try await WatchIssues().events(on: agent) {
            states.append(change.state)
            if states.count == 2 { break }
        }
        check("Events are read.", states == [.closed, .open])
        let report = try await StartReport().send(on: agent)
        check("The result is at the Location.", report.headers[.location] == "/reports/1")
    }
}
