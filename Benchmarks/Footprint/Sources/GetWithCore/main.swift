import ErrandCore
import ErrandCurl
import ErrandHTTP

// Without an argument, the program ends at once: the time to start.
if CommandLine.arguments.count > 1 {
    let agent = RequestAgent(transport: CurlTransport())
    let description = RequestDescription(
        endpoint: "Get", url: EndpointURL(raw: CommandLine.arguments[1]))
    let response = try await agent.start(description).response()
    print("\(response.status.code) \(response.data.count)")
}
