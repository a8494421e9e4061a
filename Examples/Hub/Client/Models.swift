import Errand
import Foundation

struct Tokens: Decodable, Sendable {
    var accessToken: String
    var refreshToken: String
    var expiresAt: Date
}

struct User: Decodable, Sendable {
    var id: Int
    var login: String
    var displayName: String
    var joinedAt: Date
}

/// The owner and the name of a repository: two segments of a path.
struct RepositoryName: Sendable, CustomStringConvertible {
    var owner: String
    var name: String

    var description: String { "\(owner)/\(name)" }
}

struct Repository: Decodable, Sendable {
    var fullName: String
    var openIssues: Int
    var latestAsset: Asset
}

struct Issue: Decodable, Sendable {
    enum State: String, Codable, Sendable, ArgumentValue { case open, closed }

    var number: Int
    var title: String
    var state: State
    var authorLogin: String
    var createdAt: Date
    var dueAt: Date?
}

struct NewIssue: Encodable, Sendable {
    var title: String
    var dueAt: Date?
    var estimatedHours: Double?
}

/// Members that are `nil` stay unchanged.
struct IssueChange: Encodable, Sendable {
    var title: String?
    var state: Issue.State?
}

/// A file of a repository.
struct Asset: Decodable, Sendable {
    var id: Int
    var name: String
    var size: Int64?
    var sha256: String?
}

/// The JSON part of an upload.
struct NewAsset: Encodable, Sendable {
    var releaseTag: String
    var publishedAt: Date
}
