import Errand
import Foundation
import Terminal

// Reading and writing: cache, pages, issues, errors.
extension Tour {
    func cache() async throws {
        let user = GetUser(id: 12)
        try await user.send()
        try await user.send()
        checks.check(
            "max-age=60: the second response is \(user.response?.source.rawValue ?? "missing")",
            user.response?.source == .cacheFresh)

        let repository = GetRepository(repo)
        try await repository.send()
        let first = repository.output?.openIssues
        try await repository.send()
        checks.check(
            "no-cache and ETag: the second response is "
                + (repository.response?.source.rawValue ?? "missing"),
            repository.response?.source == .revalidated && repository.output?.openIssues == first)
    }

    func pages() async throws {
        var issues: [Issue] = []
        for try await page in ListIssues(repo: repo).pages() {
            screen.line(" ", "a page with \(page.count) issues")
            issues += page
        }
        checks.check(
            "the pages have all \(issues.count) open issues",
            issues.count == server.openIssues && Set(issues.map(\.number)).count == issues.count)

        let before = sentCount
        var titles: Set<String> = []
        for try await issue in ListIssues(repo: repo).items(limit: 2) {
            titles.insert(issue.title)
        }
        checks.check(
            "the items of two pages have \(titles.count) titles: "
                + titles.sorted().joined(separator: ", "),
            sentCount - before == 2 && titles.count == 3)

        var numbers: [Int] = []
        for try await issue in ListIssues(repo: repo).items().prefix(5) {
            numbers.append(issue.number)
        }
        checks.check(
            "five items need one page: \(numbers)",
            sentCount - before == 3 && numbers == Array(1...5))
    }

    func issues() async throws {
        let due = Date(timeIntervalSince1970: 1_893_456_000)
        let issue = try await CreateIssue(
            NewIssue(title: "Clean the lens", dueAt: due), repo: repo
        ).value()
        let sent = server.loopback.requests.last.map { String(decoding: $0.body, as: UTF8.self) }
        screen.line(" ", "sent: \(sent ?? "")", style: .dim)
        checks.check(
            "the body has snake_case keys and a date in ISO 8601",
            sent == #"{"title":"Clean the lens","due_at":"2030-01-01T00:00:00Z"}"#)
        checks.check(
            "issue \(issue.number) by \(issue.authorLogin), due in 2030: decoded by the same rules",
            issue.authorLogin == "octavia" && issue.dueAt == due)

        let request = GetIssue(issue.number, repo: repo)
        try await request.send()
        try await request.send()
        checks.check("the issue is cached", request.response?.source == .cacheFresh)

        let change = IssueChange(state: .closed)
        try await EditIssue(issue.number, repo: repo, change: change).value()
        let edited = try await request.value()
        checks.check(
            "after the change it is loaded again, and it is \(edited.state.rawValue)",
            request.response?.source == .network && edited.state == .closed)

        let response = try await DeleteIssue(issue.number, repo: repo).send()
        checks.check("it is deleted, without a body", response.status == 204)
        let gone = await failure { try await request.send() }
        checks.check("now it is missing", gone?.status == 404)
    }

    func errors() async throws {
        let missing = await failure { try await GetIssue(9999, repo: repo).value() }
        let body = missing?.body(as: HubError.self)
        checks.check(
            "404: the error has the server's message, and the number of the request: "
                + (body?.requestId ?? "none"),
            missing?.status == 404 && body?.message == "There is no issue 9999."
                && missing?.localizedDescription == body?.message && body?.requestId != nil)

        let invalid = await failure {
            try await CreateIssue(NewIssue(title: ""), repo: repo).send()
        }
        let fields = invalid?.body(as: HubError.self)?.fields ?? [:]
        checks.check(
            "422: the error names the field: \(fields)",
            invalid?.status == 422 && fields == ["title": "A title is required."])

        let before = sentCount
        let issue = NewIssue(title: "Wind the clockwork", estimatedHours: .infinity)
        let refused = await failure { try await CreateIssue(issue, repo: repo).send() }
        checks.check(
            "a number that JSON does not have is refused before anything is sent",
            refused?.code == .invalidBody && refused?.stage == .build && refused?.attempts == 0
                && sentCount == before)
    }
}
