import Errand
import Foundation

/// The type whose methods the recipes are: the values that their texts name, and what they print.
@MainActor
final class RecipeModel {
    var lines: [String] = []
    let folder: URL
    var photo: URL { folder.appendingPathComponent("sunset.jpg") }
    var proxyAddress = ""
    let sign: @Sendable (String, Data) -> String = { path, body in "\(path) \(body.count)" }

    init(folder: URL = URL(fileURLWithPath: "/")) { self.folder = folder }

    /// Each line that a recipe prints.
    let (printed, output) = AsyncStream.makeStream(of: String.self)

    /// Keeps what a recipe prints.
    func print(_ line: String) {
        lines.append(line)
        output.yield(line)
    }

    /// Loads with a screen that is released meanwhile, and waits for the end.
    func close<Screen: AnyObject>(
        _ make: () -> Screen, load: (Screen, @escaping (Response?) -> Void) -> Void
    ) async {
        await withCheckedContinuation { end in
            let screen = make()
            load(screen) { response in
                self.print(response == nil ? "cancelled" : "shown")
                end.resume()
            }
        }
    }
}
