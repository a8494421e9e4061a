import Foundation

/// Files that remain after the process: the store, the photos and the time of the last run.
///
/// They are in `$AIRLINE_STATE`, or else in the cache folder.
struct State {
    let folder: URL
    /// The time since the last run; `nil` for the first.
    let sinceLastRun: Duration?

    var store: URL { folder.appendingPathComponent("responses.sqlite") }
    var photo: URL { folder.appendingPathComponent("sunset.ppm") }
    var secondPhoto: URL { folder.appendingPathComponent("sunset-again.ppm") }
    var cardPhoto: URL { folder.appendingPathComponent("card.ppm") }
    private var note: URL { folder.appendingPathComponent("last-run") }

    init(environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        let files = FileManager.default
        if let path = environment["AIRLINE_STATE"], !path.isEmpty {
            folder = URL(fileURLWithPath: path, isDirectory: true)
        } else {
            let caches = files.urls(for: .cachesDirectory, in: .userDomainMask).first
            folder = (caches ?? files.temporaryDirectory)
                .appendingPathComponent("errand-airline", isDirectory: true)
        }
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        let note = folder.appendingPathComponent("last-run")
        let text = try? String(contentsOf: note, encoding: .utf8)
        sinceLastRun = text.flatMap(Double.init).map {
            .seconds(Date().timeIntervalSince1970 - $0)
        }
        // This run downloads the photos again.
        for file in [photo, secondPhoto, cardPhoto]
        where files.fileExists(atPath: file.path) {
            try files.removeItem(at: file)
        }
    }

    /// Records the time of the user info request, so that the next run knows whether it is still fresh.
    func noteRun() throws {
        try "\(Date().timeIntervalSince1970)".write(to: note, atomically: true, encoding: .utf8)
    }
}
