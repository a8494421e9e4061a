extension RequestTask {
    /// Cancels the task when the owner is deallocated, unless the task has ended.
    ///
    /// The owner is not retained.
    @discardableResult
    public func bind(to owner: RequestOwner) -> RequestTask {
        owner.add(id) { [self] in cancel() }
        let isUnderWay = observe { [weak owner, id] change in
            if change == .ended { owner?.forget(id) }
        }
        if !isUnderWay { owner.forget(id) }
        return self
    }
}
