#if os(Linux)
    import ErrandTransport

    // Requests that wait for a connection that can be shared; see ``HTTP2Admission``.
    extension EventLoop {
        typealias AdmissionSlot = HTTP2Admission<AdmissionTicket>.Slot

        /// A waiting easy handle and the number of its wait.
        ///
        /// An easy handle is reused, so the number shows whether it still waits for the same
        /// admission.
        struct AdmissionTicket {
            let easyHandle: EasyHandle
            let number: UInt64
        }

        /// Requests admission for a transfer; returns false if it has to wait.
        func requestAdmission(_ easyHandle: EasyHandle, _ request: TransportRequest) -> Bool {
            guard EasyHandle.needsAdmission(request), let host = request.host else {
                return true
            }
            let origin = HTTP2Admission<AdmissionTicket>.Origin(
                host: host, port: request.url.effectivePort)
            let ticket = AdmissionTicket(easyHandle: easyHandle, number: lastTicket + 1)
            return assignSlot(admission.enter(origin, ticket), for: ticket)
        }

        /// Requests admission again for a transfer that lost its connection.
        func requestReadmission(_ easyHandle: EasyHandle) -> Bool {
            guard let lost = easyHandle.admission.slot else { return true }
            easyHandle.admission.slot = nil
            let ticket = AdmissionTicket(easyHandle: easyHandle, number: lastTicket + 1)
            return assignSlot(admission.reenter(lost, ticket), for: ticket)
        }

        private func assignSlot(_ slot: AdmissionSlot?, for ticket: AdmissionTicket) -> Bool {
            if let slot {
                ticket.easyHandle.admission.slot = slot
                return true
            }
            lastTicket = ticket.number
            ticket.easyHandle.awaitAdmission(ticket: ticket.number)
            return false
        }

        /// Reports the connection of a probe to the admission control.
        func connectionFound(_ easyHandle: EasyHandle, isNew: Bool, isShared: Bool) {
            guard let slot = easyHandle.admission.slot, slot.isProbe else { return }
            easyHandle.admission.slot?.isProbe = false
            admitted += admission.connected(slot, isNew: isNew, isShared: isShared)
        }

        /// Returns the slot of a transfer that has ended.
        func releaseSlot(_ easyHandle: EasyHandle) {
            guard let slot = easyHandle.admission.slot else { return }
            easyHandle.admission.slot = nil
            admitted += admission.leave(slot, isStillProbe: slot.isProbe)
        }

        /// Starts the admitted transfers.
        ///
        /// Must not be called from inside a callback of libcurl.
        func startAdmitted() {
            while !admitted.isEmpty {
                let batch = admitted
                admitted.removeAll(keepingCapacity: true)
                for (ticket, slot) in batch {
                    guard ticket.easyHandle.admission.isAwaiting(ticket.number) else {
                        admitted += admission.leave(slot, isStillProbe: slot.isProbe)
                        continue
                    }
                    if ticket.easyHandle.moveToEngine() {
                        admitted += admission.leave(slot, isStillProbe: slot.isProbe)
                        continue
                    }
                    ticket.easyHandle.admission.slot = slot
                    ticket.easyHandle.begin()
                }
            }
        }
    }
#endif
