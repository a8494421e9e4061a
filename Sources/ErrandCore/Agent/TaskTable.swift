/// The tasks under way, each at a place that it keeps: entering and leaving look nothing up.
struct TaskTable {
    private var places: [RequestTask?] = []
    private var free: [Int] = []

    /// How many there are.
    var count: Int { places.count - free.count }

    var isEmpty: Bool { count == 0 }

    /// Every task, in no order.
    var tasks: [RequestTask] { places.compactMap { $0 } }

    /// Takes a task in and says where.
    mutating func add(_ task: RequestTask) -> Int {
        guard let place = free.popLast() else {
            places.append(task)
            return places.count - 1
        }
        places[place] = task
        return place
    }

    /// Lets go of the task at a place, if there is one; the caller lets go of what comes back outside its lock.
    mutating func remove(at place: Int) -> RequestTask? {
        guard places.indices.contains(place), let task = places[place] else { return nil }
        places[place] = nil
        free.append(place)
        // After a rush: what nobody needs is given back.
        if free.count == places.count {
            places.removeAll(keepingCapacity: places.count <= 1024)
            free.removeAll(keepingCapacity: free.count <= 1024)
        }
        return task
    }
}
