import ArgumentParser
import Errand
import ErrandProgressLine
import Foundation

/// A command-line downloader.
///
/// Interrupted downloads continue with the next run of the same command.
@main
struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Download files; interrupted downloads continue with the next run.",
        discussion: """
            A later run continues the part files of the same URLs. With --continue, it also keeps the files that an \
            earlier run has finished.

            The exit status is 0 if all files were downloaded, 1 if one of them failed, 64 for wrong arguments, and \
            130 after Ctrl-C. Results go to the standard output, progress and errors to the standard error.
            """)

    @Argument(help: "The URLs of the files.")
    var urls: [String] = []

    @Option(
        name: [.short, .long],
        help:
            "A file with one URL on each line, or '-' for the standard input. '#' starts a comment."
    )
    var inputFile: String?

    @Option(name: [.short, .long], help: "The folder of the files.")
    var directory = "."

    @Option(name: [.short, .long], help: "The name of the file, for a single URL.")
    var output: String?

    @Option(name: [.short, .long], help: "The number of files at the same time, 1 to 64.")
    var jobs = 4

    @Option(
        name: [.short, .long],
        help: "The number of parallel requests for one file, 1 to 32, or 'auto'.")
    var segments = Segments.automatic

    @Option(
        help: ArgumentHelp(
            "The expected digest, for a single URL: sha256:…, sha512:…, sha1:… or md5:….",
            valueName: "algorithm:digits"))
    var checksum: Checksum?

    @Option(
        help: "A file in the format of sha256sum or BSD; files that it does not name are an error.")
    var checksumFile: String?

    @Option(help: "An existing file is kept, overwritten, an error, or the new name gets a number.")
    var existing = Existing.number

    @Flag(
        name: [.customShort("c"), .customLong("continue")],
        help: "Keep existing files that have the server's length, and continue the others.")
    var continues = false

    @Flag(name: .long, help: "Continue a file also if only its query has changed (signed URLs).")
    var ignoreQuery = false

    @Option(
        name: [.customShort("l"), .long],
        help: ArgumentHelp(
            "The bytes per second of all files together, such as 500k or 2M.", valueName: "rate"))
    var limitRate: Rate?

    @Option(
        name: [.customShort("H"), .long], help: "A header field of the requests, 'Name: value'.")
    var header: [Header] = []

    @Option(help: "The number of attempts without progress before a file fails, at least 1.")
    var attempts = 5

    @Flag(name: .long, help: "Start again from the first byte.")
    var noResume = false

    @Flag(name: .long, help: "Give the files the time of Last-Modified.")
    var remoteTime = false

    @Flag(name: [.short, .long], help: "Show no progress.")
    var quiet = false

    @Flag(name: .long, help: "Write a line of JSON to the standard output for each file.")
    var json = false

    func validate() throws {
        guard (1...64).contains(jobs) else {
            throw ValidationError("--jobs must be 1 to 64.")
        }
        guard attempts > 0 else { throw ValidationError("--attempts must be at least 1.") }
        guard urls.isEmpty == (inputFile != nil) else {
            throw ValidationError("Name URLs, or an --input-file, but not both.")
        }
        if urls.count != 1, output != nil || checksum != nil {
            throw ValidationError("--output and --checksum are for a single URL.")
        }
        if checksum != nil, checksumFile != nil {
            throw ValidationError("Use either --checksum or --checksum-file.")
        }
        if continues, noResume {
            throw ValidationError("Use either --continue or --no-resume.")
        }
        if let output, output.isEmpty || output.contains("/") {
            throw ValidationError("--output must be a name; use --directory for the folder.")
        }
    }

    func run() async throws {
        let session = try await Session(self, try sources())
        let status = await session.run()
        if status != 0 { throw ExitCode(status) }
    }

    /// The URLs of the arguments or of the input file.
    private func sources() throws -> [String] {
        guard let inputFile else { return urls }
        let text: String
        if inputFile == "-" {
            text = String(
                decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
        } else {
            do {
                text = try String(contentsOfFile: inputFile, encoding: .utf8)
            } catch {
                throw ValidationError("The input file \(inputFile) cannot be read.")
            }
        }
        let lines = text.split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
        guard !lines.isEmpty else {
            throw ValidationError("The input file \(inputFile) has no URL.")
        }
        return lines
    }
}
