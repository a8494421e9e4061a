import Errand
import Terminal

// Batches and a chain.
extension Tour {
    func batch() async throws {
        let (user, repository) = try await BatchRequest.Typed(
            GetUser(id: 7), GetRepository(repo)
        ).value()
        checks.check(
            "two outputs with their types: \(user.displayName), \(repository.fullName)",
            user.login == "octavia" && repository.fullName == "\(repo)")

        let batch = BatchRequest(
            [GetUser(id: 12), GetUser(id: 99), GetIssue(1, repo: repo)], policy: .collectAll)
        let results = try await batch.send()
        let codes = results.map { result in
            switch result {
            case .success(let response): response.statusCode
            case .failure(let error): error.status?.code ?? 0
            }
        }
        checks.check("all members run to their ends: \(codes)", codes == [200, 404, 200])
    }

    func chain() async throws {
        let repo = repo
        let create = CreateIssue(NewIssue(title: "Replace the bulb"), repo: repo)
        let chain = ChainRequest()
        chain.add(create)
            .then { _, issue in
                EditIssue(issue.number, repo: repo, change: IssueChange(state: .closed))
            }
            .then { _, issue in
                BatchRequest([GetIssue(issue.number, repo: repo), GetRepository(repo)])
            }
        try await chain.send()
        let issue = chain.requests.compactMap { $0 as? GetIssue }.first?.output
        checks.check(
            "\(chain.requests.count) requests, each from the result of the one before: issue "
                + "\(issue?.number ?? 0) is \(issue?.state.rawValue ?? "missing")",
            chain.requests.count == 4 && issue?.number == create.output?.number
                && issue?.state == .closed)
    }
}
