#if Metrics
    import Metrics
    import Synchronization

    /// A metric with the values of its dimensions.
    struct MetricSeries: Hashable, Sendable {
        struct Dimension: Hashable, Sendable {
            var name: String
            var value: String
        }

        var name: String
        var dimensions: [Dimension]

        init(_ name: String, _ dimensions: [(String, String?)]) {
            self.name = name
            self.dimensions = dimensions.compactMap { name, value in
                value.map { Dimension(name: name, value: $0) }
            }
        }

        /// The series of a metric that has too many.
        init(overflowOf name: String) {
            self.init(name, [("otel.metric.overflow", "true")])
        }

        var pairs: [(String, String)] { dimensions.map { ($0.name, $0.value) } }
    }

    /// The instruments of all series, made once for each.
    ///
    /// A metric has at most ``limit`` series; what exceeds them is recorded in one with the dimension
    /// `otel.metric.overflow`.
    final class MetricHandles: Sendable {
        /// The limit of the OpenTelemetry SDKs.
        static let limit = 2000

        private struct State {
            var handles: [MetricSeries: any Sendable] = [:]
            var counts: [String: Int] = [:]
        }

        private let state = Mutex(State())
        private let factory: any MetricsFactory
        private let limit: Int

        init(_ factory: any MetricsFactory, limit: Int = MetricHandles.limit) {
            self.factory = factory
            self.limit = limit
        }

        func count(_ series: MetricSeries, by number: Int = 1) {
            handle(series) { Counter(label: $0.name, dimensions: $0.pairs, factory: factory) }
                .increment(by: number)
        }

        func record(_ value: Int64, in series: MetricSeries) {
            handle(series) { Recorder(label: $0.name, dimensions: $0.pairs, factory: factory) }
                .record(value)
        }

        func record(_ duration: Duration, in series: MetricSeries) {
            handle(series) {
                Timer(
                    label: $0.name, dimensions: $0.pairs, preferredDisplayUnit: .seconds,
                    factory: factory)
            }.record(duration: duration)
        }

        func add(_ change: Int64, to series: MetricSeries) {
            let meter = handle(series) {
                Meter(label: $0.name, dimensions: $0.pairs, factory: factory)
            }
            if change >= 0 {
                meter.increment(by: Double(change))
            } else {
                meter.decrement(by: Double(-change))
            }
        }

        func set(_ value: Int64, of series: MetricSeries) {
            handle(series) { Gauge(label: $0.name, dimensions: $0.pairs, factory: factory) }
                .record(value)
        }

        /// The instrument of a series; the factory is called without a lock.
        private func handle<Handle: Sendable>(
            _ series: MetricSeries, _ make: (MetricSeries) -> Handle
        ) -> Handle {
            var series = series
            let found = state.withLock { state -> Handle? in
                if let handle = state.handles[series] as? Handle { return handle }
                if state.counts[series.name, default: 0] >= limit {
                    series = MetricSeries(overflowOf: series.name)
                }
                return state.handles[series] as? Handle
            }
            if let found { return found }
            let made = make(series)
            return state.withLock { state in
                if let handle = state.handles[series] as? Handle { return handle }
                state.handles[series] = made
                state.counts[series.name, default: 0] += 1
                return made
            }
        }
    }
#endif
