import AsyncHTTPClient

// Without an argument, the program ends at once: the time to start.
if CommandLine.arguments.count > 1 {
    let request = HTTPClientRequest(url: CommandLine.arguments[1])
    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
    let body = try await response.body.collect(upTo: 1 << 20)
    print("\(response.status.code) \(body.readableBytes)")
}
