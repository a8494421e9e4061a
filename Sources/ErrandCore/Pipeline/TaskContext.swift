package import Foundation
import Synchronization

/// What stays the same from start to end of one task, and the few things that its steps share.
package final class TaskContext: Sendable {
    package let id: UUID
    package let description: RequestDescription
    let sharedConfiguration: Shared<Configuration>
    /// Lent, not copied: it is large.
    package var configuration: Configuration { _read { yield sharedConfiguration.value } }
    package let transport: any Transport
    package let store: (any ResponseStore)?
    package let clock: any RequestClock
    /// The jar of the agent, for configurations that name none.
    package let cookieJar: CookieJar?
    package let progress: ProgressHub
    package let pause: PauseGate
    /// What cancelling the task, or the shared transfer, reaches.
    package let scope = CancellationScope()

    /// What wakes the task from waiting for its transfer passes here.
    let startGate = StartGate()

    /// Whose transfer this is, when several tasks share it: its stages are those of all on board.
    private let flight: Flight?
    private let stageWord = Atomic(TaskStage.described.word)
    private let hasWatcher = Atomic(false)
    private let stageWatcher = Mutex<(@Sendable () -> Void)?>(nil)
    private let hasListeners: Bool
    private let line = Mutex(EventLine())
    private let place: Mutex<Place>
    private let storedEntry = Mutex<(@Sendable () -> Void)?>(nil)
    private let madeOutput = Mutex<(any Sendable)?>(nil)
    /// Who reads this task's events; hardly anybody does.
    private let readers = Mutex(TaskEventReaders())
    private let hasReaders = Atomic(false)

    package convenience init(
        id: UUID, description: RequestDescription, configuration: Configuration,
        transport: any Transport, store: (any ResponseStore)?, clock: any RequestClock,
        cookieJar: CookieJar? = nil
    ) {
        self.init(
            id: id, description: description, configuration: Shared(configuration),
            transport: transport, store: store, clock: clock, cookieJar: cookieJar)
    }

    init(
        id: UUID, description: consuming RequestDescription, configuration: Shared<Configuration>,
        transport: any Transport, store: (any ResponseStore)?, clock: any RequestClock,
        cookieJar: CookieJar? = nil
    ) {
        self.id = id
        configuration.value.complete(&description)
        sharedConfiguration = configuration
        hasListeners = !configuration.value.eventListeners.isEmpty
        self.transport = transport
        self.store = store
        self.clock = clock
        self.cookieJar = cookieJar
        progress = ProgressHub(clock: clock)
        if let handler = description.progressHandler {
            progress.listen(every: .milliseconds(100), handler)
        }
        pause = PauseGate()
        place = Mutex(Place(priority: description.priority))
        flight = nil
        self.description = consume description
    }

    /// The context of a transfer that several tasks share: what it tells is told in the name of one of them.
    init(flight: Flight, of leader: TaskContext) {
        id = leader.id
        description = leader.description
        sharedConfiguration = leader.sharedConfiguration
        hasListeners = leader.hasListeners
        transport = leader.transport
        store = leader.store
        clock = leader.clock
        cookieJar = leader.cookieJar
        progress = flight.progress
        pause = flight.pause
        place = Mutex(Place(priority: leader.priority))
        self.flight = flight
    }

    /// Where the task stands in the line, and how urgent it is by now.
    private struct Place {
        var priority: RequestPriority
        var ticket: UInt64?
        weak var scheduler: Scheduler?
        var watcher: (@Sendable () -> Void)?
    }

    /// How urgent the task is; may change while it waits.
    package var priority: RequestPriority {
        get { place.withLock { $0.priority } }
        set {
            place.withLock { $0.priority = newValue }
            var told: RequestPriority?
            while true {
                let place = place.withLock { $0 }
                // Two who come at once must not leave the line as the earlier one wanted it.
                guard place.priority != told else { return }
                told = place.priority
                if let ticket = place.ticket {
                    place.scheduler?.setPriority(place.priority, of: ticket)
                }
                place.watcher?()
            }
        }
    }

    /// Calls back, outside the lock, after each change of the priority.
    ///
    /// One watcher at most.
    func watchPriority(_ watcher: (@Sendable () -> Void)?) {
        place.withLock { $0.watcher = watcher }
    }

    /// Notes the line in which the task stands, before it stands there: a change of priority that comes
    /// too early for the line is read when the task enters it.
    func stands(in scheduler: Scheduler?, as ticket: UInt64?) {
        place.withLock { place in
            place.scheduler = scheduler
            place.ticket = ticket
        }
    }

    /// Where the work stands.
    var stage: TaskStage { TaskStage(word: stageWord.load(ordering: .sequentiallyConsistent)) }

    /// Whether anybody wants to know of changes.
    var isWatched: Bool { hasWatcher.load(ordering: .sequentiallyConsistent) }

    /// The work goes on to another stage; a load and a store where nobody watches.
    func enter(_ stage: TaskStage) {
        if let flight { return flight.enter(stage) }
        guard stage.mayFollow(self.stage) else { return }
        stageWord.store(stage.word, ordering: .sequentiallyConsistent)
        guard isWatched else { return }
        let watcher = stageWatcher.withLock { $0 }
        watcher?()
    }

    /// Calls back on each change of the stage, from any thread.
    func watchStage(_ watcher: @escaping @Sendable () -> Void) {
        stageWatcher.withLock { $0 = watcher }
        hasWatcher.store(true, ordering: .sequentiallyConsistent)
    }

    /// The typed output that `ProcessStep` made.
    package var output: (any Sendable)? { madeOutput.withLock { $0 } }

    package func keep(output: any Sendable) { madeOutput.withLock { $0 = output } }

    /// The answer is in the store; this takes it out again.
    package func keep(removal: @escaping @Sendable () -> Void) {
        if let flight { return flight.teller.keep(removal: removal) }
        storedEntry.withLock { $0 = removal }
    }

    /// The answer turned out to be of no use: it must not be the store's answer next time.
    package func dropStored() {
        let removal = storedEntry.withLock { entry in
            defer { entry = nil }
            return entry
        }
        removal?()
    }

    /// Tells the listeners; costs nothing when there are none.
    ///
    /// In order, one at a time, with times that never go backwards, whichever threads the events come from.
    package func emit(_ kind: @autoclosure () -> RequestEvent.Kind) {
        guard isHeard else { return }
        teller.enqueue(kind())
    }

    /// Whether anybody hears of events just now.
    var isHeard: Bool {
        // Asked a dozen times by every request: nothing is fetched for it that is not shared.
        guard let flight else { return hasListeners || hasReaders.load(ordering: .acquiring) }
        let teller = flight.teller
        return teller.hasListeners || teller.hasReaders.load(ordering: .acquiring)
    }

    /// Whose events these are: a shared transfer's belong to whoever of its passengers has been on board for longest.
    private var teller: TaskContext { flight?.teller ?? self }

    /// This task's events from now on, to their end.
    func events(keeping capacity: Int) -> AsyncStream<RequestEvent> {
        hasReaders.store(true, ordering: .releasing)
        return AsyncStream.subscribed(keeping: .bufferingNewest(max(1, capacity))) { stream in
            readers.withLock { $0.add(stream) }
        } leave: { [weak self] id in
            _ = self?.readers.withLock { $0.remove(id) }
        }
    }

    /// Tells those who read this task's events; the end is kept also where nobody reads yet.
    private func tellReaders(_ event: RequestEvent) {
        let isEnd = if case .ended = event.kind { true } else { false }
        guard isEnd || hasReaders.load(ordering: .acquiring) else { return }
        for reader in readers.withLock({ $0.readers(of: event, isEnd: isEnd) }) {
            reader.yield(event)
            if isEnd { reader.finish() }
        }
    }

    /// Tells the listeners from another thread: the caller's is a transfer's, and serves others, too.
    package func emitElsewhere(_ kind: @autoclosure () -> RequestEvent.Kind) {
        guard isHeard else { return }
        teller.leave(kind())
    }

    private func enqueue(_ kind: RequestEvent.Kind) {
        // The time is read under the lock: the order of times is the order of the line.
        tell(line.withLock { $0.enter(event(kind)) })
    }

    private func leave(_ kind: RequestEvent.Kind) {
        guard line.withLock({ $0.leave(event(kind)) }) else { return }
        ForeignCode.run { self.tell(self.line.withLock { $0.begin() }) }
    }

    private func event(_ kind: RequestEvent.Kind) -> RequestEvent {
        RequestEvent(
            taskID: id, endpoint: description.endpoint,
            endpointType: description.endpointType, tag: description.tag,
            uptime: clock.uptime, kind: kind)
    }

    /// Whether everything has been told, behind the end, but for what a thread of the user's is telling.
    var isTold: Bool { !line.withLock { $0.isBusyElsewhere } }

    /// Waits for that; holds no thread meanwhile.
    func untilTold() async {
        await withCheckedContinuation { continuation in
            let waits = line.withLock { $0.wait(continuation) }
            if !waits { continuation.resume() }
        }
    }

    private func tell(_ first: RequestEvent?) {
        var event = first
        while let next = event {
            for listener in configuration.eventListeners { listener.handle(next) }
            tellReaders(next)
            let (following, waiters) = line.withLock { ($0.next(), $0.takeWaiters()) }
            for waiter in waiters { waiter.resume() }
            event = following
        }
    }
}
