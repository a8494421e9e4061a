#if Foundation || URLSession || canImport(Darwin)
    // Foundation: FileHandle
    public import Foundation

    extension ProgressDisplay {
        /// Creates a display for a file, such as `.standardOutput`.
        ///
        /// - Parameters:
        ///   - file: The output.
        ///   - options: The settings.
        public convenience init(_ file: FileHandle, options: Options = Options()) {
            self.init(TerminalOutput(descriptor: file.fileDescriptor, owner: file), options)
        }
    }
#endif
