import Errand

/// The issues of a repository, ten on each page.
///
/// The `Link` header of a page leads to the next one: `ListIssues(repo: name).pages()`.
final class ListIssues: HubRequest, DecodableOutput {
    typealias Output = [Issue]

    let repo: RepositoryName
    let state: Issue.State

    init(repo: RepositoryName, state: Issue.State = .open) {
        self.repo = repo
        self.state = state
    }

    override var url: EndpointURL { "repos/\(repo.owner)/\(repo.name)/issues" }
    override var arguments: Arguments? { ["state": state, "per_page": 10] }
}

final class GetIssue: HubRequest, DecodableOutput {
    typealias Output = Issue

    let repo: RepositoryName
    let number: Int

    init(_ number: Int, repo: RepositoryName) {
        self.number = number
        self.repo = repo
    }

    override var url: EndpointURL { "repos/\(repo.owner)/\(repo.name)/issues/\(number)" }
}

final class CreateIssue: HubRequest, DecodableOutput {
    typealias Output = Issue

    let repo: RepositoryName
    let issue: NewIssue

    init(_ issue: NewIssue, repo: RepositoryName) {
        self.issue = issue
        self.repo = repo
    }

    override var url: EndpointURL { "repos/\(repo.owner)/\(repo.name)/issues" }
    override var method: HTTPMethod { .post }
    override var body: HTTPBody? { .json(issue) }
}

final class EditIssue: HubRequest, DecodableOutput {
    typealias Output = Issue

    let repo: RepositoryName
    let number: Int
    let change: IssueChange

    init(_ number: Int, repo: RepositoryName, change: IssueChange) {
        self.number = number
        self.repo = repo
        self.change = change
    }

    override var url: EndpointURL { "repos/\(repo.owner)/\(repo.name)/issues/\(number)" }
    override var method: HTTPMethod { .patch }
    override var body: HTTPBody? { .json(change) }
}

/// Deletes an issue; the response has no body, so the endpoint has no output.
final class DeleteIssue: HubRequest {
    let repo: RepositoryName
    let number: Int

    init(_ number: Int, repo: RepositoryName) {
        self.number = number
        self.repo = repo
    }

    override var url: EndpointURL { "repos/\(repo.owner)/\(repo.name)/issues/\(number)" }
    override var method: HTTPMethod { .delete }
}
