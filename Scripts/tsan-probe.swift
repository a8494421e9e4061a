// For Scripts/run-sanitized: `locked` contends for a lock without a race, `racing` has a race.
import Dispatch
import Synchronization

final class Box: @unchecked Sendable {
    // @unchecked: `bare` is the race that ThreadSanitizer must report.
    let guarded = Mutex<[Int]>([])
    var bare = 0
}

let box = Box()
let races = CommandLine.arguments.last == "racing"
let group = DispatchGroup()
for _ in 0..<8 {
    DispatchQueue.global().async(group: group) {
        for number in 0..<20_000 {
            box.guarded.withLock { numbers in
                if numbers.count > 100 { numbers = [] }
                numbers.append(number)
            }
            // Tries the lock without waiting, against threads that wait for it.
            _ = box.guarded.withLockIfAvailable { $0.append(-number) }
            if races { box.bare += 1 }
        }
    }
}
group.wait()
