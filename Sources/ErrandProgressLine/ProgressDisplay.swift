public import ErrandHTTP
import ErrandSystem
import Synchronization

/// Shows the progress of transfers: on a terminal one line for each, which is updated in place, otherwise plain lines.
///
///     let display = ProgressDisplay()
///     let line = display.add("photo.jpg")
///     try await Photo(in: folder).send { task in task.onProgress { line.update($0) } }
///     line.finish()
///     display.end()
///
/// A line has the name, a bar, the percentage, the bytes, the rate and the estimated time left; parts that do not fit
/// are omitted. Below several lines there is one with the sums. Ended transfers remain as lines above the others.
/// Without a terminal, a line is written for each end, and every ``Options/plainInterval`` for each running transfer.
///
/// A display may be used from any thread. Control characters in names and messages are replaced, so that a server
/// cannot control the terminal. Names with wide characters keep the columns aligned.
public final class ProgressDisplay: Sendable {
    /// The characters of the lines.
    public enum Style: Sendable, Hashable {
        /// Bars of block characters, for terminals with UTF-8.
        case unicode
        /// Bars of `#` and `-`.
        case ascii
    }

    /// The direction of a transfer, which decides whether the bytes of the response or of the request are shown.
    public enum Direction: Sendable, Hashable {
        case download, upload
    }

    /// Settings of a display.
    public struct Options: Sendable {
        /// Whether lines are updated in place.
        ///
        /// Default `nil`: if the output is a terminal, and the environment variable `TERM` is not `dumb`.
        public var isInteractive: Bool?
        /// The characters of the lines.
        ///
        /// Default `nil`: ``Style/unicode`` if the environment variable `LC_ALL`, `LC_CTYPE` or `LANG` names UTF-8.
        public var style: Style?
        /// The time between two updates on a terminal; at least 10 ms.
        ///
        /// Default 100 ms.
        public var interval: Duration = .milliseconds(100)
        /// The time between two lines of a running transfer without a terminal; at least 10 ms.
        ///
        /// Default 10 seconds.
        public var plainInterval: Duration = .seconds(10)

        /// Creates the default settings.
        public init() {}
    }

    /// The line of one transfer.
    public struct Line: Sendable {
        let display: ProgressDisplay
        let key: Int

        /// Shows new progress; the first call ends the state "waiting".
        ///
        /// It has no effect after ``finish(_:)`` or ``fail(_:)``.
        public func update(_ progress: TransferProgress) {
            display.change { $0.update(key, progress) }
        }

        /// Shows that the transfer is suspended, until ``resume()``.
        public func pause() { display.change { $0.set(key, .paused) } }

        /// Shows that the transfer runs again.
        public func resume() { display.change { $0.set(key, .running) } }

        /// Ends the line with the number of bytes.
        ///
        /// - Parameter text: Further text. Default none.
        public func finish(_ text: String = "") { display.end(key, .finished(text)) }

        /// Ends the line with the reason of a failure.
        ///
        /// - Parameter message: The reason, on one line.
        public func fail(_ message: String) { display.end(key, .failed(message)) }
    }

    private struct State {
        var screen: ProgressScreen
        var ticker: Task<Void, Never>?
        var hasEnded = false
    }

    private let output: any ProgressOutput
    private let options: Options
    private let state: Mutex<State>

    /// Creates a display.
    ///
    /// - Parameters:
    ///   - descriptor: The output, which must stay open. Default: the standard error, so that the standard output of a
    ///     program can be used for results.
    ///   - options: The settings.
    public convenience init(descriptor: Int32 = 2, options: Options = Options()) {
        self.init(TerminalOutput(descriptor: descriptor), options)
    }

    init(_ output: any ProgressOutput, _ options: Options) {
        self.output = output
        self.options = options
        let style = options.style ?? (TerminalOutput.isUnicode ? .unicode : .ascii)
        state = Mutex(State(screen: ProgressScreen(style: style)))
    }

    deinit { state.withLock { $0.ticker?.cancel() } }

    /// Adds a transfer, which is shown as waiting.
    ///
    /// - Parameters:
    ///   - name: The name in the line.
    ///   - direction: Whether the bytes of the response or of the request are shown.
    public func add(_ name: String, _ direction: Direction = .download) -> Line {
        let key = state.withLock { state in
            if state.ticker == nil, !state.hasEnded { state.ticker = startTicker() }
            return state.screen.add(name, direction)
        }
        return Line(display: self, key: key)
    }

    /// Writes text above the lines of the transfers.
    ///
    /// - Parameter text: One line or several.
    public func write(_ text: String) {
        state.withLock { state in
            state.screen.write(text)
            draw(&state, isDue: false)
        }
    }

    /// Shows the present state now.
    public func refresh() { state.withLock { draw(&$0, isDue: true) } }

    /// Shows the last state and stops the updates; transfers that have not ended remain as they are.
    public func end() {
        let ticker = state.withLock { state in
            guard !state.hasEnded else { return nil as Task<Void, Never>? }
            state.hasEnded = true
            draw(&state, isDue: false)
            return state.ticker.take()
        }
        ticker?.cancel()
    }

    fileprivate func change(_ body: (inout ProgressScreen) -> Void) {
        state.withLock { body(&$0.screen) }
    }

    fileprivate func end(_ key: Int, _ end: ProgressRow.State) {
        state.withLock { state in
            state.screen.set(key, end)
            draw(&state, isDue: false)
        }
    }

    /// Under the lock, so that drawings keep their order.
    private func draw(_ state: inout State, isDue: Bool) {
        let text =
            if let size = interactiveSize {
                state.screen.draw(size)
            } else {
                state.screen.drawPlain(isDue: isDue)
            }
        if !text.isEmpty { output.write(text) }
    }

    private var interactiveSize: ProgressScreen.Size? {
        switch options.isInteractive {
        case false?: nil
        case true?: output.size ?? ProgressScreen.Size(columns: 80, rows: 24)
        case nil: output.size
        }
    }

    private func startTicker() -> Task<Void, Never> {
        let interval = max(
            .milliseconds(10),
            interactiveSize == nil ? options.plainInterval : options.interval)
        return Task { [weak self] in
            while (try? await Task.sleep(for: interval)) != nil {
                guard let self else { return }
                refresh()
            }
        }
    }
}
