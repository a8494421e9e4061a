import Foundation

/// What outlives the process: the store, the photos and when the last run was.
///
/// In `$AIRLINE_STATE`, or in the cache folder.
struct State {
    let folder: URL
    /// The time since the last run; `nil` for the first.
    let sinceLastRun: Duration?

    var store: URL { folder.appendingPathComponent("answers.sqlite") }
    var photo: URL { folder.appendingPathComponent("sunset.ppm") }
    var secondPhoto: URL { folder.appendingPathComponent("sunset-again.ppm") }
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
        // The photos are what this run downloads.
        for file in [photo, secondPhoto] where files.fileExists(atPath: file.path) {
            try files.removeItem(at: file)
        }
    }

    /// Notes that user info was asked for now, so that the next run knows what to expect.
    func noteRun() throws {
        try "\(Date().timeIntervalSince1970)".write(to: note, atomically: true, encoding: .utf8)
    }
}
