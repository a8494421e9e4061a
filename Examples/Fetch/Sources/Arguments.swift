import ArgumentParser
import Errand

/// The number of parallel requests for one file.
struct Segments: ExpressibleByArgument {
    static let automatic = Segments(maximum: 4, minimumSize: 8 << 20, text: "auto")

    let maximum: Int
    /// The smallest range, in bytes.
    let minimumSize: Int64
    let text: String

    private init(maximum: Int, minimumSize: Int64 = 1 << 20, text: String) {
        self.maximum = maximum
        self.minimumSize = minimumSize
        self.text = text
    }

    init?(argument: String) {
        if argument == "auto" {
            self = .automatic
        } else if let number = Int(argument), (1...32).contains(number) {
            self.init(maximum: number, text: argument)
        } else {
            return nil
        }
    }

    var defaultValueDescription: String { text }
}

/// What happens to a file that exists.
enum Existing: String, ExpressibleByArgument, CaseIterable {
    case number, keep, overwrite, fail

    var policy: DownloadPlan.ExistingFile {
        switch self {
        case .number: .rename
        case .keep: .keep
        case .overwrite: .overwrite
        case .fail: .fail
        }
    }
}

/// An expected digest, such as `sha256:9f86d0…`.
struct Checksum: ExpressibleByArgument {
    let digest: DownloadedFile.Digest

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1).map(String.init)
        let names: [String: DownloadedFile.Digest.Algorithm] = [
            "sha256": .sha256, "sha512": .sha512, "sha1": .sha1, "md5": .md5,
        ]
        guard parts.count == 2, let algorithm = names[parts[0].lowercased()],
            parts[1].count == 2 * algorithm.byteCount, parts[1].allSatisfy(\.isHexDigit)
        else { return nil }
        digest = DownloadedFile.Digest(algorithm, hex: parts[1])
    }
}

/// A number of bytes per second, such as `500k` or `2M`.
struct Rate: ExpressibleByArgument {
    let bytesPerSecond: Int64

    init?(argument: String) {
        let units: [Character: Double] = ["k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9]
        let factor = argument.last.flatMap { units[$0] }
        guard let number = Double(factor == nil ? argument : String(argument.dropLast())),
            number > 0, number.isFinite
        else { return nil }
        let bytes = number * (factor ?? 1)
        guard bytes >= 1, bytes < 1e15 else { return nil }
        bytesPerSecond = Int64(bytes)
    }
}

/// A header field, `Name: value`.
struct Header: ExpressibleByArgument {
    let name: HTTPField.Name
    let value: String

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":"),
            let name = HTTPField.Name(String(argument[..<colon]))
        else { return nil }
        self.name = name
        value = argument[argument.index(after: colon)...].drop { $0 == " " }.description
        guard HTTPField.isValidValue(value) else { return nil }
    }
}
