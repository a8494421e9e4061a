import Errand
import Foundation

/// The type whose methods the README's statements are, and the results that tests read.
@MainActor
final class ReadmeModel {
    var title = ""
    var lines: [String] = []
    var agents: [RequestAgent] = []
    let folder: URL

    init(folder: URL = URL(fileURLWithPath: "/")) { self.folder = folder }

    /// Keeps what a sample prints.
    func print(_ value: Any) { lines.append("\(value)") }
}
