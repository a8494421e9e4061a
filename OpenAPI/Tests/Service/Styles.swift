import Errand
import Foundation

/// Sends values in all styles to `errand-openapi serve`, which reads them back and compares them with their schemas.
@main
@MainActor
enum Main {
    private static var failures = 0
    private static var count = 0

    /// Whether a request is accepted, or refused with some words.
    private static func check(
        _ request: some VoidOutput, _ agent: RequestAgent, refusal: String? = nil
    ) async {
        count += 1
        do {
            try await request.value(on: agent)
            if refusal == nil { return }
            print("styles: accepted: \(request)")
        } catch {
            let text = error.response?.string ?? "\(error)"
            if let refusal, text.contains(refusal) { return }
            print("styles: refused: \(request): \(text)")
        }
        failures += 1
    }

    static func main() async {
        let server = EndpointURL(raw: CommandLine.arguments.dropFirst().first ?? "")
        let agent = RequestAgent(configuration: Styles.configuration(baseURL: server))
        let color = Color(r: 100, g: 200)
        let wrong = Color(r: 256)
        let list = ["a/b", "c,d", "100%", "é;="]
        await check(Simple(list: list, color: color, pairs: color), agent)
        await check(Simple(list: ["a"], color: color, pairs: color), agent, refusal: "$[0]")
        await check(Simple(list: list, color: wrong, pairs: color), agent, refusal: "maximum 255")
        await check(Simple(list: list, color: color, pairs: wrong), agent, refusal: "maximum 255")
        let days = [
            FullDate(year: 2026, month: 1, day: 31), FullDate(year: 2026, month: 2, day: 1),
        ]
        await check(
            Labels(id: 7, kinds: [.a, .b], days: days, color: color, pairs: color), agent)
        await check(
            Labels(id: 7, kinds: [.a], days: days, color: color, pairs: wrong), agent,
            refusal: "maximum 255")
        let ids = [UUID(), UUID()]
        await check(
            Matrices(
                id: "a;b=c/d", commas: [1.5, -2], repeated: ids, color: color,
                pairs: ["x": "x;=,", "y": "y;=,"], cellSize: 3), agent)
        await check(
            Matrices(
                id: "x", commas: [], repeated: ids, color: color, pairs: ["x": "x"], cellSize: 3),
            agent, refusal: "does not match")
        await check(
            Objects(
                color: color, xPairs: color, ids: [1, 2], spaces: color, xColor: color,
                colorParameter: color), agent)
        for position in 0..<5 {
            let values = (0..<5).map { $0 == position ? wrong : color }
            await check(
                Objects(
                    color: values[0], xPairs: values[1], spaces: values[2], xColor: values[3],
                    colorParameter: values[4]), agent, refusal: "maximum 255")
        }
        await check(
            Contents(color: color, colorParameter: color, xColor: color, colorParameter2: color),
            agent)
        for position in 0..<4 {
            let values = (0..<4).map { $0 == position ? wrong : color }
            await check(
                Contents(
                    color: values[0], colorParameter: values[1], xColor: values[2],
                    colorParameter2: values[3]), agent, refusal: "maximum 255")
        }
        await check(
            Positions(
                linesParameter: [.init(colors: [color]), .init(colors: [color, color])],
                ids: [1, 2],
                colors: [color, color], others: [color]), agent)
        for position in 0..<3 {
            let values = (0..<3).map { $0 == position ? wrong : color }
            await check(
                Positions(
                    linesParameter: [.init(colors: [color, values[0]])], ids: [1, 2],
                    colors: [color, values[1]], others: [values[2]]), agent,
                refusal: "maximum 255")
        }
        await check(
            Positions(
                linesParameter: [.init(colors: [color])], ids: [1], colors: [color], others: [color]
            ),
            agent, refusal: "$.ids")
        print("styles: \(count - failures) of \(count) requests")
        exit(failures == 0 ? 0 : 1)
    }
}
