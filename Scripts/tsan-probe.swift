// For Scripts/run-sanitized: `locked` has no race and contends for a lock, `racing` has one.
import Dispatch
import Synchronization

final class Box: @unchecked Sendable {
    // @unchecked: `bare` is the race that ThreadSanitizer has to find.
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
            // A caller that takes the lock only where it is free, against those who wait for it.
            _ = box.guarded.withLockIfAvailable { $0.append(-number) }
            if races { box.bare += 1 }
        }
    }
}
group.wait()
