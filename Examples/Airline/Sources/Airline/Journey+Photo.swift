import Errand
import Foundation

// A download that breaks and goes on, and answers that are wrong.
extension Journey {
    func photo() async throws {
        let whole = server.photo.body
        do {
            try await on(API.photo(to: state.photo)).value()
            claims.claim("the connection broke", false)
        } catch {
            tell()
            screen.line("!", "\(error)", style: .dim)
            claims.claim(
                "the error is typed: \(error.code)",
                error.code == .truncatedBody || error.code == .connectionLost)
        }
        claims.claim(
            "nothing is at the destination yet",
            !FileManager.default.fileExists(atPath: state.photo.path))

        let file = try await on(API.photo(to: state.photo)).value()
        tell()
        let request = server.loopback.requests.last
        let range = request?.header("Range") ?? "none"
        claims.claim(
            "the second start asked for \(range), if still \(request?.header("If-Range") ?? "?")",
            range == "bytes=\(whole.count / 2)-" && request?.header("If-Range") == server.photo.etag
        )
        claims.claim(
            "the file is whole: \(whole.count) bytes, the same as on the server",
            try Data(contentsOf: file) == whole && file.path == state.photo.path)
        claims.claim("no part file is left", try leftovers(beside: file).isEmpty)
    }

    func batch() async throws {
        let before = server.loopback.requests.count
        let user = on(API.Passengers.find(1903))
        let photo = on(API.photo(to: state.secondPhoto))
        let batch = BatchRequest([user, photo])
        try await batch.send()
        tell()
        claims.claim(
            "both are there: \(user.output?.nick ?? "nobody"), \(photo.output?.lastPathComponent ?? "nothing")",
            batch.results.count == 2 && user.output != nil
                && (try? Data(contentsOf: state.secondPhoto)) == server.photo.body)
        claims.claim(
            "one from the store, one over the wire",
            user.response?.isFromCache == true && server.loopback.requests.count - before == 1)
    }

    func chain() async throws {
        let chain = ChainRequest()
        chain.add(on(API.Passengers.register("wilbur", password: "kitty-hawk")))
            .then { register in self.on(API.Passengers.find(register.userId ?? 0)) }
        try await chain.send()
        tell()
        let register = chain.requests.first as? Register
        let user = (chain.requests.last as? GetUser)?.output
        claims.claim(
            "wilbur is passenger \(register?.userId ?? 0), and the user info is theirs",
            chain.requests.count == 2 && user?.id == register?.userId && user != nil)
    }

    func fares() async throws {
        do {
            try await on(API.Flights.fares).send()
            claims.claim("the broken answer is refused", false)
        } catch {
            tell()
            if let fault = error.shapeFault { screen.line("!", "\(fault)", style: .bad) }
            claims.claim(
                "the validator says where: \(error.shapeFault?.path ?? "nowhere")",
                error.code == .shapeMismatch
                    && error.shapeFault?.path == "$['flights'][2]['price']")
            claims.claim(
                "and the answer is in the error: \(error.response?.data.count ?? 0) bytes, status \(error.status?.code ?? 0)",
                error.response?.json["flights"].count == 3)
        }
    }

    private func leftovers(beside file: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
            .filter { $0.contains(file.lastPathComponent) && $0 != file.lastPathComponent }
    }
}
