//! Mutants that no check can refute, with the reason.
use super::Judgement;

/// Mutants that keep every claim, by reason.
#[rustfmt::skip]
pub const EQUIVALENT: &[Judgement] = &[
    Judgement {
        reason: "an unchanged queue is then published instead of validated, which is one step too",
        keys: &[
            "fischer_queue_copied.rs FischerQueueCopied::change: `queue.is_changed` -> `true`",
            "named_queue.rs Queue::retain: `self.entries.len() < length` -> `true`",
            "named_queue.rs Queue::retain: `self.entries.len() < length`: `<` -> `<=`",
        ],
    },
    Judgement {
        reason: "a copy is published only after all of it is written, and a process that reads it earlier validates what it has read",
        keys: &[
            "fischer_queue_copied.rs FischerQueueCopied::write: swap `m.at(\"9\").write(&registers.at(first), queue.head())?;` and `for (i, entries) in queue.entries.c…st + 1 + i), Word::of(entries))?; }`",
        ],
    },
    Judgement {
        reason: "the name stands in the queue too, and the waiter finds it there",
        keys: &[
            "fischer_queue_copied.rs FischerQueueCopied::wait: remove `if let Some(name) = place { return Ok(name); }`",
            "fischer_queue_copied.rs FischerQueueCopied::wait: remove `return Ok(name);`",
        ],
    },
    Judgement {
        reason: "the head of a copy is zero or a whole head, for which both tests agree; only the head of a damaged file is neither",
        keys: &[
            "named_queue.rs Word::k_and_length: `self.0 & HEAD != 0 && k == !complement`: without `self.0 & HEAD != 0`",
            "named_queue.rs Word::k_and_length: `self.0 & HEAD != 0 && k == !complement`: without `k == !complement`",
            "named_queue.rs Word::k_and_length: `self.0 & HEAD != 0 && k == !complement`: `&&` -> `||`",
        ],
    },
    Judgement {
        reason: "only the process itself reads its register `node`, in its next passage",
        keys: &[
            "clh.rs Clh::exit: swap `m.at(\"5\").write(&self.locked[mine], false)?;` and `m.at(\"6\").write(&self.node[p], pred)`",
        ],
    },
    Judgement {
        reason: "the holder's control is 2, so no other process passes L2 before the exit section writes k anyway",
        keys: &[
            "knuth.rs Knuth::wait: `m.at(\"L3\").write(&self.k, i)` -> `Ok(())`",
        ],
    },
    Judgement {
        reason: "the flag of a process in its exit section is not idle, so the test finds the process itself as well",
        keys: &[
            "eisenberg_mcguire.rs EisenbergMcguire::exit: `j == i || m.at(\"9\").test(&self.flag[j], |flag| flag != IDLE)?`: without `j == i`",
        ],
    },
    Judgement {
        reason: "never equal: a process does not compare itself with itself",
        keys: &[
            "bakery.rs Bakery::wait: `(number, i) >= (mine, p)`: `>=` -> `>`",
            "bakery_labels.rs BakeryLabels::wait: `(label, k) > (mine, p)`: `>` -> `>=`",
            "black_white_bakery.rs BlackWhiteBakery::wait_for: `(mine.number, i) < (pair.number, j)`: `<` -> `<=`",
            "afek.rs Afek::fewer_than_k_precede: `(ticket, j) < (mine, p)`: `<` -> `<=`",
            "burns_peterson.rs BurnsPeterson::wait: `(r.ticket, j) < (mine, p)`: `<` -> `<=`",
            "dolev_gafni_shavit.rs DolevGafniShavit::seems_before: `(number, j) >= (mine, p)`: `>=` -> `>`",
            "k_bakery.rs is_before: `(mine, p) < (want, i)`: `<` -> `<=`",
            "k_bakery.rs PairRegisters::index: `to > from`: `>` -> `>=`",
            "afek.rs Afek::later_ticket_has_entered: `(mine, p) >= (entered, j)`: `>=` -> `>`",
        ],
    },
    Judgement {
        reason: "only the bound on the counter is lost, which is no claim: places are taken modulo n",
        keys: &[
            "anderson_array.rs AndersonArray::doorway: `my_place == 0`: `==` -> `!=`",
        ],
    },
    Judgement {
        reason: "only the bound on the numbers is lost, which is no claim (a test of the catalogue has it): with one color, or the maximum of both, it is the bakery",
        keys: &[
            "black_white_bakery.rs BlackWhiteBakery::doorway: `pair.color == color` -> `true`",
            "black_white_bakery.rs BlackWhiteBakery::exit: remove `m.at(\"9\").write(&self.color, mine.color.other())?;`",
        ],
    },
    Judgement {
        reason: "both happen under the inner lock, and no other process looks at either before it is released",
        keys: &[
            "danek_golab.rs DanekGolab::join: swap `m.at(\"6\").write(&self.head[p], false)?;` and `m.call(|m| { let other = m.call(|m|….insert(m, q, None)?; } Ok(()) })?;`",
            "danek_golab.rs DanekGolab::join: swap `m.call(|m| { let other = m.call(|m|….insert(m, q, None)?; } Ok(()) })?;` and `self.queue.remove(m, p)?;`",
            "danek_golab.rs DanekGolab::exit: swap `self.queue.remove(m, p)?;` and `m.call(|m| self.dispenser.done(m, p, *ticket))?;`",
            "danek_golab.rs DanekGolab::exit: swap `m.call(|m| self.dispenser.done(m, p, *ticket))?;` and `self.notify(m, \"22\")?;`",
        ],
    },
    Judgement {
        reason: "exclusion rests on flag 2; without line 1 each process can take the turn once, until line 5, so one of them enters",
        keys: &[
            "dijkstra.rs Dijkstra::doorway: `m.at(\"1\").write(&self.flag[i], 1)` -> `Ok(())`",
        ],
    },
    Judgement {
        reason: "both sides of the condition give the same node for i = slots + 1",
        keys: &[
            "jayanti_f_array.rs JayantiFArray::above: `i <= slots + 1`: `<=` -> `<`",
        ],
    },
    Judgement {
        reason: "different registers, and no process acts on either before the ticket is in the tree, on line 10",
        keys: &[
            "jayanti_f_array.rs JayantiFArray::doorway: swap `m.at(\"1\").write(&self.go[p], false)?;` and `let t = m.at(\"2\").load_linked(&self.c)?;`",
            "jayanti_f_array.rs JayantiFArray::doorway: swap `m.at(\"3\").store_conditional(&self.c, t, t.value().next())?;` and `let leaf = self.take_leaf(m, p)?;`",
        ],
    },
    Judgement {
        reason: "the leaf is empty since line 7, so the slot can be taken by another before or after line 8",
        keys: &[
            "jayanti_f_array.rs JayantiFArray::exit: swap `self.return_leaf(m, leaf)?;` and `m.at(\"8\").write_linked(&self.own, None)?;`",
        ],
    },
    Judgement {
        reason: "the process tries again at once instead of waiting on line 5; line 3 sends it there",
        keys: &[
            "lamport_fast.rs LamportFast::attempt: remove `m.at(\"11\").until(&self.y, |y| y.is_none())?;`",
        ],
    },
    Judgement {
        reason: "line 6 is a short cut: line 7 fails if there is a successor, and line 8 finds it",
        keys: &[
            "mcs.rs Mcs::successor: remove `if let Some(next) = m.at(\"6\").read(…ext[p])? { return Ok(Some(next)); }`",
            "mcs.rs Mcs::successor: swap `if let Some(next) = m.at(\"6\").read(…ext[p])? { return Ok(Some(next)); }` and `if m.at(\"7\").compare_swap(&self.tai…ome(p), None)? { return Ok(None); }`",
            "mcs.rs Mcs::successor: remove `return Ok(Some(next));`",
        ],
    },
    Judgement {
        reason: "the number served can only have grown since, and then the process with that number has entered already",
        keys: &[
            "ticket_sleeping.rs TicketSleeping::wake: swap `self.bucket.wait(m, p, &())?;` and `let x = m.at(\"5\").read(self.tickets.serving())?;`",
        ],
    },
    Judgement {
        reason: "line 2 is a short cut: line d asks again",
        keys: &[
            "ticket_sleeping.rs TicketSleeping::wait: remove `if m.at(\"2\").test(self.tickets.serv…g| serving == t)? { return Ok(t); }`",
            "ticket_sleeping.rs TicketSleeping::wait: remove `return Ok(t);`",
        ],
    },
    Judgement {
        reason: "`woken` is only read after line e, and only written by others once `asleep` is set",
        keys: &[
            "ticket_sleeping.rs TicketSleeping::wait: swap `if m.at(\"d\").test(self.tickets.serv…t.exit(m, p, &())?; return Ok(t); }` and `m.at(\"e\").write(&self.woken[p], false)?;`",
        ],
    },
    Judgement {
        reason: "`woken` and the count are under the bucket's lock",
        keys: &[
            "ticket_sleeping.rs TicketSleeping::wake: swap `m.at(\"6\").fetch_add(&self.parked, Tally::new(-1))?;` and `m.at(\"6\").write(&self.woken[i], true)?;`",
        ],
    },
    Judgement {
        reason: "the count of parked waiters stays too high, so exits take the slow path, which violates no claim",
        keys: &[
            "ticket_sleeping.rs TicketSleeping::wait: remove `m.at(\"d\").fetch_add(&self.parked, Tally::new(-1))?;`",
            "ticket_sleeping.rs TicketSleeping::wait: swap `if m.at(\"2\").test(self.tickets.serv…g| serving == t)? { return Ok(t); }` and `m.at(\"a\").fetch_add(&self.parked, Tally::new(1))?;`",
        ],
    },
    Judgement {
        reason: "a process that compares itself with itself does not precede itself",
        keys: &[
            "afek.rs Afek::fewer_than_k_precede: `j != p && m.at(\"4\").test(&self.x[j], |up| up)?`: without `j != p`",
            "burns_peterson.rs BurnsPeterson::wait: `j != p && m.at(\"4\").test(&self.r[j]…ying && (r.ticket, j) < (mine, p))?`: without `j != p`",
        ],
    },
    Judgement {
        reason: "only the broken algorithm that shares the source runs it",
        keys: &[
            "anderson_moir_dsm.rs LocalStage::enter_with: swap `installed = m.at(\"8\").compare_swap(&self.q, u, CellId { p, l })?;` and `if let (Release::AfterReplacing, tr…ed) { m.at(\"7\").write(go, true)?; }`",
            "anderson_moir_dsm.rs LocalStage::enter_with: true -> false in `if let (Release::AfterReplacing, true) = (release, installed) {`",
            "anderson_moir_dsm.rs LocalStage::enter_with: remove `m.at(\"7\").write(go, true)?;` #2",
            "anderson_moir_dsm.rs LocalStage::enter_with: true -> false in `m.at(\"7\").write(go, true)?;` #2",
            "decker_jayanti_names.rs DeckerJayantiNames::was_taken: remove `if !taken { m.at(\"6\").write(bit, true)?; }`",
            "decker_jayanti_names.rs DeckerJayantiNames::was_taken: `!taken` -> `true`",
            "decker_jayanti_names.rs DeckerJayantiNames::was_taken: `!taken` -> `taken`",
            "decker_jayanti_names.rs DeckerJayantiNames::was_taken: remove `m.at(\"6\").write(bit, true)?;`",
            "decker_jayanti_names.rs DeckerJayantiNames::was_taken: true -> false in `m.at(\"6\").write(bit, true)?;`",
            "special_set_adaptive.rs AdaptiveSet::accepts: true -> false in `MemberTest::Leaf => true,`",
            "special_set_adaptive.rs AdaptiveSet::accepts: `q != p`: `!=` -> `==`",
        ],
    },
    Judgement {
        reason: "there is one number more of each color, which changes no order",
        keys: &[
            "colored_ticket.rs ColoredTicket::next: `ticket.number < self.n`: `<` -> `<=`",
        ],
    },
    Judgement {
        reason: "every ticket shown to others is smaller by one, so their order is the same; that of the last passage, on line 14, is not above it",
        keys: &[
            "k_bakery.rs KBakery::choose: `max.next()` -> `max` #2",
        ],
    },
    Judgement {
        reason: "only for more than 64 processes",
        keys: &[
            "k_bakery.rs Set::remove: `!(1 << (p % 64))` -> `(1 << (p % 64))`",
            "k_bakery.rs Set::pop: remove `self.remove(first);`",
        ],
    },
    Judgement {
        reason: "the rest of the function does the same, more slowly",
        keys: &[
            "k_bakery.rs Set::pop: remove `if let Set::Word(word) = self { let…rd.wrapping_sub(1); return first; }`",
        ],
    },
    Judgement {
        reason: "every ticket shown to others is smaller by one, so their order is the same; that of the last passage, on line 30, is not above it",
        keys: &[
            "k_bakery_safe.rs KBakerySafe::doorway: `max.next()` -> `max` #2",
        ],
    },
    Judgement {
        reason: "a cell watched twice is watched",
        keys: &[
            "log_k.rs wait_set: remove `set.dedup();`",
        ],
    },
    Judgement {
        reason: "every operation on the queue is under the lock, so no process sees an intermediate state",
        keys: &[
            "priority_queue.rs PriorityQueue::insert: swap `m.at(\"q2\").write(&self.size, end + 1)?;` and `let hole = self.up(m, end, entry)?;`",
            "priority_queue.rs PriorityQueue::remove: swap `m.at(\"q6\").write(&self.pos[p], None)?;` and `let end = m.at(\"q7\").read(&self.size)? - 1;`",
            "priority_queue.rs PriorityQueue::remove: swap `m.at(\"q7\").write(&self.size, end)?;` and `let Slot(last) = m.at(\"q8\").read(&self.heap[end])?;`",
            "priority_queue.rs PriorityQueue::put: swap `m.at(line).write(&self.heap[hole], Slot(Some(entry)))?;` and `m.at(line).write(&self.pos[entry.process], Some(hole))`",
        ],
    },
    Judgement {
        reason: "an entry moves either up or down, so the order of the attempts does not matter",
        keys: &[
            "priority_queue.rs PriorityQueue::remove: swap `let hole = self.up(m, hole, last)?;` and `let hole = self.down(m, hole, end, last)?;`",
        ],
    },
    Judgement {
        reason: "one of the two is the dummy here, so if the other has a ticket this one has none",
        keys: &[
            "priority_queue.rs Entry::is_before: `one.is_none() && other.is_some()`: without `one.is_none()`",
        ],
    },
    Judgement {
        reason: "differs for two dummies only, and which of two is first is left open",
        keys: &[
            "priority_queue.rs Entry::is_before: `one.is_none() && other.is_some()`: without `other.is_some()`",
            "priority_queue.rs Entry::is_before: `one.is_none() && other.is_some()`: `&&` -> `||`",
        ],
    },
    Judgement {
        reason: "never happens: the array has a bouncer for each of n processes",
        keys: &[
            "renaming.rs Renaming::call: remove `if row + column == self.n { return Ok(Break(None)); }`",
            "renaming.rs Renaming::call: remove `return Ok(Break(None));`",
        ],
    },
    Judgement {
        reason: "a rival that is told so on line 7 finds on line 9 that it goes first or has to wait for line 12 all the same",
        keys: &[
            "two_process.rs Lock2::is_free: swap `if m.at(\"5\").test(&self.t, |t| t != p)? { return Ok(true); }` and `if m.at(\"6\").test(&self.p[r], |cell… m.at(\"7\").write(&self.p[r], 1)?; }`",
        ],
    },
    Judgement {
        reason: "MyNode[p] is read only by processes that leave, and these exclude each other",
        keys: &[
            "special_set.rs StaticSet::remove_self: swap `let other = self.tree.find(m, self.leaf(p), member_leaf)?;` and `m.at(\"38\").write(&self.my_node[p], None)?;`",
            "special_set_adaptive.rs AdaptiveSet::remove_self: swap `let other = self.tree.find(m, self.…ccepts(p, q, leaf, named_at))) })?;` and `m.at(\"38\").write(&self.my_node[p], None)?;`",
            "special_set_adaptive.rs AdaptiveSet::remove_self: swap `m.at(\"38\").write(&self.my_node[p], None)?;` and `self.renaming.leave(m, p, x)?;`",
        ],
    },
    Judgement {
        reason: "only the first search gets longer: its result is still an upper bound, as many as 3n tickets ahead",
        keys: &[
            "ticket_dispenser.rs TicketDispenser::obtain: `i < bound && self.is_in_use(m, \"47\", first.plus(i))?`: without `self.is_in_use(m, \"47\", first.plus(i))?`",
            "ticket_dispenser.rs TicketDispenser::obtain: `bound.min(2 * i)`: `min` -> `max`",
            "ticket_dispenser.rs TicketDispenser::obtain: `i < bound && self.is_in_use(m, \"47\", first.plus(i))?`: `&&` -> `||`",
        ],
    },
    Judgement {
        reason: "tickets in use are within a third of the circle of each other, so half of it is never reached",
        keys: &[
            "ticket_dispenser.rs is_before: `2 * j.ahead_of(i) < i.of()`: `<` -> `<=`",
        ],
    },
    Judgement {
        reason: "tickets in use are different",
        keys: &[
            "ticket_dispenser.rs is_before: `i != j && 2 * j.ahead_of(i) < i.of()`: without `i != j`",
        ],
    },
    Judgement {
        reason: "only the rule uses it",
        keys: &[
            "ticket_dispenser.rs are_close: `3 * j.ahead_of(i).min(i.ahead_of(j)) < i.of()`: `<` -> `<=`",
        ],
    },
    Judgement {
        reason: "the queue is empty only after line 18; the process found then is the one that leaves, and its line 6 takes back what line 22 wrote",
        keys: &[
            "priority_queue.rs PriorityQueue::remove: remove `m.at(\"q8\").write(&self.heap[end], Slot(None))?;`",
        ],
    },
    Judgement {
        reason: "no process looks at the ticket that line 59 frees before line 60 of a later ticket",
        keys: &[
            "ticket_dispenser.rs TicketDispenser::done: swap `m.at(\"59\").write(&self.tickets[tick… * self.n).index()], State::Free)?;` and `m.at(\"60\").write(&self.last_ticket, ticket)`",
        ],
    },
    Judgement {
        reason: "no other process uses the cell before line 8, and line 6 compares again what line 4 has read",
        keys: &[
            "anderson_moir_dsm.rs LocalStage::enter_with: swap `m.at(\"3\").write(&self.cells[p][l].p, false)?;` and `let u = m.at(\"4\").read(&self.q)?;`",
        ],
    },
    Judgement {
        reason: "only adaptivity is lost: a node that is never free again sends all processes on, and the overflow lock admits them",
        keys: &[
            "kim_anderson.rs KimAnderson::exit: remove `self.tree.ascend(m, p, place)?;`",
            "kim_anderson.rs KimAnderson::exit: swap `self.tree.ascend(m, p, place)?;` and `if !self.tree.stops(place) { self.t…rn self.overflow.exit(m, p, &()); }`",
            "special_set_adaptive.rs AdaptiveSet::remove_self: remove `self.renaming.leave(m, p, x)?;`",
            "renaming_tree.rs Splitter::acquire: `!y.free` -> `y.free`",
            "renaming_tree.rs RenamingTree::ascend: remove `if let Some(node) = self.nodes.get(…release(m, Direction::Stop, p))?; }`",
            "renaming_tree.rs RenamingTree::ascend: remove `m.call(|m| node.release(m, Direction::Stop, p))?;`",
            "renaming_tree.rs RenamingTree::ascend: `node.release(m, Direction::Stop, p)` -> `Ok(())`",
            "renaming_tree.rs RenamingTree::ascend: `m.fold(depth(place), (), |m, (), up…ve - 1].release(m, direction, p) })` -> `Ok(())`",
            "renaming_tree.rs RenamingTree::ascend: `self.nodes[above - 1].release(m, direction, p)` -> `Ok(())`",
            "renaming_tree.rs RenamingTree::leave: remove `self.ascend(m, p, place)?;`",
            "renaming_tree.rs RenamingTree::leave: `self.clear(m, place)` -> `Ok(())`",
            "renaming_tree.rs Splitter::acquire: `!y.free` -> `true`",
            "renaming_tree.rs Splitter::release: `direction == Direction::Right` -> `true`",
            "renaming_tree.rs Splitter::release: remove `if direction == Direction::Stop { m…rite(&self.round[round], false)?; }`",
            "renaming_tree.rs Splitter::release: remove `m.at(\"r10\").write(&self.round[round], false)?;`",
            "renaming_tree.rs Splitter::release: false -> true in `m.at(\"r10\").write(&self.round[round], false)?;`",
            "renaming_tree.rs Splitter::acquire: remove `m.at(\"a9\").write(&self.round[y.round], false)?;`",
            "renaming_tree.rs Splitter::acquire: false -> true in `m.at(\"a9\").write(&self.round[y.round], false)?;`",
        ],
    },
    Judgement {
        reason: "no other process writes `reset` or `obst[p]` at that time: releases exclude each other",
        keys: &[
            "renaming_tree.rs Splitter::release: swap `m.at(\"r3\").write(&self.obst[p], false)?;` and `let round = m.at(\"r4\").read(&self.reset)?.round;`",
        ],
    },
    Judgement {
        reason: "others look at these registers only under the bucket's lock",
        keys: &[
            "ticket_sleeping.rs TicketSleeping::wake: swap `m.at(\"6\").write(&self.asleep[i], false)?;` and `m.at(\"6\").fetch_add(&self.parked, Tally::new(-1))?;`",
            "ticket_sleeping.rs TicketSleeping::wait: swap `m.at(\"e\").write(&self.woken[p], false)?;` and `m.at(\"e\").write(&self.wants[p], t)?;`",
            "ticket_sleeping.rs TicketSleeping::wait: swap `m.at(\"e\").write(&self.wants[p], t)?;` and `m.at(\"e\").write(&self.asleep[p], true)?;`",
        ],
    },
    Judgement {
        reason: "the count is too high, so exits take the slow path, which violates no claim",
        keys: &[
            "ticket_sleeping.rs TicketSleeping::wake: remove `m.at(\"6\").fetch_add(&self.parked, Tally::new(-1))?;`",
            "ticket_sleeping.rs TicketSleeping::wait: swap `m.at(\"d\").fetch_add(&self.parked, Tally::new(-1))?;` and `self.bucket.exit(m, p, &())?;`",
            "ticket_sleeping.rs TicketSleeping::exit: `m.at(\"4\").test(&self.parked, |parked| parked == 0)?` -> `false`",
        ],
    },
    Judgement {
        reason: "the barrier still comes between line a and line d",
        keys: &[
            "ticket_sleeping.rs TicketSleeping::wait: swap `m.at(\"b\").barrier()?;` and `self.bucket.wait(m, p, &())?;`",
        ],
    },
    Judgement {
        reason: "the count goes on beyond k, and the caller asks only whether it is below k",
        keys: &[
            "afek.rs fewer_than: `count == k || j == n`: without `count == k`",
        ],
    },
    Judgement {
        reason: "both come before line 3, and other processes act on either only if they find `y` as line 3 leaves it",
        keys: &[
            "lamport_fast.rs LamportFast::start: swap `m.at(\"1\").write(&self.b[i], true)?;` and `m.at(\"2\").write(&self.x, i)?;`",
        ],
    },
    Judgement {
        reason: "the ticket 3n after the last one is free: line 59 has freed it",
        keys: &[
            "ticket_dispenser.rs TicketDispenser::obtain: `i < bound && self.is_in_use(m, \"47\", first.plus(i))?`: without `i < bound`",
            "ticket_dispenser.rs TicketDispenser::obtain: `i < bound`: `<` -> `<=`",
        ],
    },
    Judgement {
        reason: "the own label counts as that of one more process: labels are those for n + 1, one digit longer",
        keys: &[
            "timestamps.rs Timestamps::call: `j != p` -> `true`",
        ],
    },
    Judgement {
        reason: "it matters only if all labels seen are in the last copy, and then that copy is full: the process that entered it left \
                 a full copy before it, and no label leaves the latest copy; so the first copy is next either way",
        keys: &[
            "timestamps.rs latest_of_all: `labels_in(copy) > 0 && labels_in(after(copy)) == 0`: without `labels_in(copy) > 0`",
            "timestamps.rs latest_of_all: `labels_in(copy) > 0`: `>` -> `>=`",
        ],
    },
    Judgement {
        reason: "a process that stops at the last node goes on as one that found no node, which is correct for any number of them; \
                 only adaptivity is lost",
        keys: &[
            "renaming_tree.rs TreeRenaming::stops: `place <= self.nodes()`: `<=` -> `<`",
        ],
    },
    Judgement {
        reason: "`listed` and `fenced` only save work: a barrier, a fence or a look at the list that was not needed does no harm",
        keys: &[
            "ticket_async.rs TicketAsync::is_listed: `m.at(line).test(&self.listed, |listed| listed)` -> `Ok(true)`",
            "ticket_async.rs TicketAsync::suspend: `!m.at(\"b\").test(&self.fenced, |fenced| fenced)?` -> `true`",
            "ticket_async.rs TicketAsync::suspend: `!self.is_listed(m, \"c\")?` -> `true`",
            "ticket_async.rs TicketAsync::leave: remove `if !m.at(\"4\").test(&self.fenced, |fenced| fenced)? { return Ok(()); }`",
            "ticket_async.rs TicketAsync::leave: remove `return Ok(());`",
            "ticket_async.rs TicketAsync::leave: `self.is_listed(m, \"4\")? || { m.at(\"…fence()?; self.is_listed(m, \"4\")? }`: without `self.is_listed(m, \"4\")?`",
            "ticket_async.rs TicketAsync::leave: `is_listed` -> `true`",
            "ticket_async.rs TicketAsync::leave: remove `if !self.is_listed(m, \"j\")? { m.at(\"j\").write(&self.fenced, false)?; }`",
            "ticket_async.rs TicketAsync::leave: remove `m.at(\"j\").write(&self.fenced, false)?;`",
            "ticket_async.rs TicketAsync::leave: false -> true in `m.at(\"j\").write(&self.fenced, false)?;`",
            "ticket_async.rs TicketAsync::serve: true -> false in `let is_empty = m.turns((x, true), |m, (x, is_empty)| {`",
            "ticket_async.rs TicketAsync::serve: remove `if is_empty { m.at(\"7\").write(&self.listed, false)?; }`",
            "ticket_async.rs TicketAsync::serve: remove `m.at(\"7\").write(&self.listed, false)?;`",
            "ticket_async.rs TicketAsync::serve: false -> true in `m.at(\"7\").write(&self.listed, false)?;`",
            "ticket_async.rs TicketAsync::doorway: `!self.is_served(m, \"2\", t)? && self.suspend(m, p, t)?`: without `!self.is_served(m, \"2\", t)?`",
            "ticket_async.rs TicketAsync::abort: remove `if self.is_served(m, \"g\", t)? { return self.leave(m, p, t); }`",
            "ticket_async.rs TicketAsync::abort: remove `return self.leave(m, p, t);`",
        ],
    },
    Judgement {
        reason: "with the list locked, no other process looks at these registers before they are all written",
        keys: &[
            "ticket_async.rs TicketAsync::suspend: swap `if !m.at(\"b\").test(&self.fenced, |f…ed, true)?; m.at(\"b\").barrier()?; }` and `if !self.is_listed(m, \"c\")? { m.at(\"c\").swap(&self.listed, true)?; }`",
            "ticket_async.rs TicketAsync::suspend: swap `if self.last_look == LastLook::Lock…it(m, p, &())?; return Ok(false); }` and `m.at(\"e\").write(&self.woken[p], false)?;`",
            "ticket_async.rs TicketAsync::suspend: swap `m.at(\"e\").write(&self.woken[p], false)?;` and `m.at(\"e\").write(&self.wants[p], t)?;`",
            "ticket_async.rs TicketAsync::suspend: swap `m.at(\"e\").write(&self.wants[p], t)?;` and `m.at(\"e\").write(&self.entry[p], SUSPENDED)?;`",
        ],
    },
    Judgement {
        reason: "the last look is early in `ticket-async-late` only",
        keys: &[
            "ticket_async.rs TicketAsync::suspend: `self.last_look == LastLook::Locked && self.is_served(m, \"d\", t)?`: without `self.last_look == LastLook::Locked`",
        ],
    },
    Judgement {
        reason: "which processes forget `fenced`, and which tasks are polled without a wake-up, is up to the executor: any may, or none",
        keys: &[
            "ticket_async.rs TicketAsync::leave: remove `if p == 0 { return Ok(()); }`",
            "ticket_async.rs TicketAsync::leave: `p == 0` -> `true`",
            "ticket_async.rs TicketAsync::leave: `p == 0`: `==` -> `!=`",
            "ticket_async.rs TicketAsync::leave: remove `return Ok(());` #2",
            "ticket_async.rs TicketAsync::wait: remove `if p != 0 && self.is_served(m, \"f\", t)? { return Ok(t); }`",
            "ticket_async.rs TicketAsync::wait: swap `if p != 0 && self.is_served(m, \"f\", t)? { return Ok(t); }` and `m.at(\"f\").until(&self.woken[p], |woken| woken)?;`",
            "ticket_async.rs TicketAsync::wait: `p != 0 && self.is_served(m, \"f\", t)?`: without `p != 0`",
            "ticket_async.rs TicketAsync::wait: `p != 0`: `!=` -> `==`",
            "ticket_async.rs TicketAsync::wait: remove `return Ok(t);`",
        ],
    },
    Judgement {
        reason: "an aborted place whose turn has come keeps the counter where it is, and any other entry is found by the release that advances the counter to its ticket: an earlier look does for both",
        keys: &[
            "ticket_async.rs TicketAsync::serve: swap `self.list.wait(m, p, &())?;` and `let x = m.at(\"5\").read(self.tickets.serving())?;`",
        ],
    },
    Judgement {
        reason: "the entry of a task that was woken is then left in the list; it is woken again, which it does not notice, until it is suspended anew",
        keys: &[
            "ticket_async.rs TicketAsync::serve: swap `m.at(\"6\").write(&self.entry[i], NONE)?;` and `if entry == SUSPENDED { m.at(\"6\").w…rue)?; return Ok((false, false)); }`",
        ],
    },
    Judgement {
        reason: "line 6 is begun again, and finds the entries that are left",
        keys: &[
            "ticket_async.rs TicketAsync::serve: false -> true in `Ok((true, false))`",
        ],
    },
    Judgement {
        reason: "the aborted place is ahead in the queue, so its passage is completed first",
        keys: &[
            "ticket_async.rs TicketAsync::doorway: swap `m.at(\"0\").until(&self.entry[p], |entry| entry != ABORTED)?;` and `let t = self.tickets.doorway(m, p)?;`",
        ],
    },
];
