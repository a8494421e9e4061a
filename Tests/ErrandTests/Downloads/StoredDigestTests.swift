import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// The keys of stored responses contain no digest of a secret that can be compared with guessed values: each store has
/// random bytes of its own, which all its users share.
@Suite(.limited) struct StoredDigestTests {
    enum Secret: CaseIterable {
        case header, processor, authenticator, cookie, body, vary
    }

    private func agent(_ secret: Secret, _ store: any ResponseStore) throws -> RequestAgent {
        let transport = ScriptedTransport()
        transport.respond { _ in
            var headers: HTTPFields = [
                .contentType: "application/json", .cacheControl: "max-age=60",
            ]
            if secret == .vary { headers[.vary] = "From" }
            return ScriptedResponse(headers: headers, body: Data("{}".utf8))
        }
        var configuration = Configuration(baseURL: "https://api.example.com/")
        switch secret {
        case .processor:
            configuration.requestProcessors = [
                { request, _, _ in
                    request.headers[.authorization] = "Basic YTox"
                }
            ]
        case .authenticator:
            configuration.authenticators = [
                "*.example.com": .bearer("1234")
            ]
        case .vary: configuration.cacheIdentity = "a"
        default: break
        }
        let agent = RequestAgent(configuration: configuration, transport: transport, store: store)
        if secret == .cookie {
            agent.cookieJar.receive(
                [.setCookie: "pin=1234; Path=/"],
                from: try HTTPURL(parsing: "https://api.example.com/")
            )
        }
        return agent
    }

    private func keys(_ secret: Secret, _ agent: RequestAgent) async throws -> Set<String> {
        let request = InlineRequest("me", agent: agent) {
            $0.cache.writesAsynchronously = false
            if secret == .vary { $0.cache.policy = .http } else { $0.cacheSeconds = 60 }
            if secret == .vary { $0.headers[.from] = "1234" }
            if secret == .header {
                $0.headers[.authorization] = "Basic YTox"
            }
            if secret == .body {
                $0.method = .post
                $0.body = .string("pin=1234")
            }
        }
        _ = try await request.send()
        return Set(try await agent.store?.entries().map(\.key.canonical) ?? [])
    }

    @Test(arguments: Secret.allCases) func keysOfTwoStoresDiffer(secret: Secret) async throws {
        let first = try await keys(secret, try agent(secret, MemoryResponseStore()))
        let second = try await keys(secret, try agent(secret, MemoryResponseStore()))
        #expect(!first.isEmpty && first.count == second.count)
        // The index of variants contains no secret.
        #expect(first.intersection(second).count == (secret == .vary ? 1 : 0))
    }

    @Test(arguments: Secret.allCases) func agentsOfOneFileHaveTheSameKeys(secret: Secret)
        async throws
    {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("store.sqlite").path
        let first = try await keys(secret, try agent(secret, SQLiteResponseStore(path: path)))
        // A new store reads the file as another process does.
        let second = try await keys(secret, try agent(secret, SQLiteResponseStore(path: path)))
        #expect(!first.isEmpty && first == second)
    }
}
