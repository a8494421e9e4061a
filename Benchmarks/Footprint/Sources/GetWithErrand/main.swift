import Errand

// Without an argument, the program ends at once: the time to start.
if CommandLine.arguments.count > 1 {
    let request = InlineRequest(EndpointURL(raw: CommandLine.arguments[1]))
    let response = try await request.send()
    print("\(response.status.code) \(response.data.count)")
}
