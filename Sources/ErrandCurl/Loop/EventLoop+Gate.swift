#if os(Linux)
    import ErrandCore

    // Who waits for a connection that can be shared; see ``StreamGate``.
    extension EventLoop {
        typealias GatePlace = StreamGate<GateTicket>.Place

        /// An exchange that waits, as it was when it began to.
        struct GateTicket {
            let exchange: Exchange
            let number: UInt64
        }

        /// False when the exchange has to wait for a place.
        func enterGate(_ exchange: Exchange, _ request: TransportRequest) -> Bool {
            guard Exchange.isGated(request), let host = request.host else {
                return true
            }
            let origin = StreamGate<GateTicket>.Origin(host: host, port: request.url.effectivePort)
            let ticket = GateTicket(exchange: exchange, number: lastTicket + 1)
            return takesPlace(gate.enter(origin, ticket), for: ticket)
        }

        /// The same for one that has lost its connection.
        func reentersGate(_ exchange: Exchange) -> Bool {
            guard let lost = exchange.place else { return true }
            exchange.place = nil
            let ticket = GateTicket(exchange: exchange, number: lastTicket + 1)
            return takesPlace(gate.reenter(lost, ticket), for: ticket)
        }

        private func takesPlace(_ place: GatePlace?, for ticket: GateTicket) -> Bool {
            if let place {
                ticket.exchange.place = place
                return true
            }
            lastTicket = ticket.number
            ticket.exchange.hold(ticket: ticket.number)
            return false
        }

        /// An exchange that went ahead has its connection.
        func passedGate(_ exchange: Exchange, isNew: Bool, isShared: Bool) {
            guard let place = exchange.place, place.isAhead else { return }
            exchange.place?.isAhead = false
            admitted += gate.connected(place, isNew: isNew, isShared: isShared)
        }

        func leaveGate(_ exchange: Exchange) {
            guard let place = exchange.place else { return }
            exchange.place = nil
            admitted += gate.leave(place, isStillAhead: place.isAhead)
        }

        /// Those who have been given a place begin, outside of libcurl.
        func beginAdmitted() {
            while !admitted.isEmpty {
                let batch = admitted
                admitted.removeAll(keepingCapacity: true)
                for (ticket, place) in batch {
                    guard ticket.exchange.isHeld(ticket.number) else {
                        admitted += gate.leave(place, isStillAhead: place.isAhead)
                        continue
                    }
                    ticket.exchange.place = place
                    ticket.exchange.begin()
                }
            }
        }
    }
#endif
