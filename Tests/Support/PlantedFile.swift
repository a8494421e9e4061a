import ErrandHTTP
package import Foundation

/// A file that another user of a shared folder can plant under a name that the package uses.
package enum PlantedFile: String, CaseIterable, Sendable {
    case symbolicLink, danglingLink, hardLink, pipe, folder, ofAnotherUser, writableByGroup
    case writableByAll

    /// Those that this process can create: only root can give a file to another user.
    package static var possible: [PlantedFile] {
        allCases.filter { $0 != .ofAnotherUser || geteuid() == 0 }
    }

    private static let victimText = Data("precious".utf8)

    /// Creates the file, and the victim of a link beside it.
    package func plant(at file: URL, _ content: Data = victimText) throws {
        let manager = FileManager.default
        let victim = Self.victim(of: file)
        switch self {
        case .symbolicLink:
            try Self.victimText.write(to: victim)
            try manager.createSymbolicLink(at: file, withDestinationURL: victim)
        case .danglingLink:
            try manager.createSymbolicLink(at: file, withDestinationURL: victim)
        case .hardLink:
            try Self.victimText.write(to: victim)
            try manager.linkItem(at: victim, to: file)
        case .pipe: guard mkfifo(file.path, 0o600) == 0 else { throw POSIXError(.EIO) }
        case .folder: try manager.createDirectory(at: file, withIntermediateDirectories: false)
        case .ofAnotherUser:
            try content.write(to: file)
            guard chown(file.path, 12_345, 12_345) == 0 else { throw POSIXError(.EPERM) }
        case .writableByGroup, .writableByAll:
            try content.write(to: file)
            let mode: mode_t = self == .writableByGroup ? 0o664 : 0o666
            guard chmod(file.path, mode) == 0 else { throw POSIXError(.EPERM) }
        }
    }

    /// Whether a link was not followed, and its target neither changed nor created.
    package func victimIsIntact(beside file: URL) -> Bool {
        let content = try? Data(contentsOf: Self.victim(of: file))
        switch self {
        case .symbolicLink, .hardLink: return content == Self.victimText
        default: return content == nil
        }
    }

    private static func victim(of file: URL) -> URL { file.appendingPathExtension("victim") }
}
