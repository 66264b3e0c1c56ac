//! Mutants that no check refutes: those that no check can refute, with the reason, and those that a larger check might.

/// What is known of some mutants.
#[derive(Clone, Copy, Debug)]
pub struct Judgement {
    /// Why the mutants keep every claim, or what is known of them if they survive.
    pub reason: &'static str,
    /// The keys of the mutants: file, function and change, as a campaign prints them.
    pub keys: &'static [&'static str],
}

/// Whether there is a reason why no check can refute this mutant.
#[must_use]
pub fn is_equivalent(key: &str) -> bool {
    EQUIVALENT.iter().any(|judgement| judgement.keys.contains(&key))
}

/// Mutants that keep every claim, by reason.
#[rustfmt::skip]
pub const EQUIVALENT: &[Judgement] = &[
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
        reason: "only the bound on the numbers is lost, which is no claim: with one color, or the maximum of both, it is the bakery",
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
            "ticket_sleeping.rs TicketSleeping::wake: swap `m.at(\"6\").fetch_add(&self.parked, 1_u64.wrapping_neg())?;` and `m.at(\"6\").write(&self.woken[i], true)?;`",
        ],
    },
    Judgement {
        reason: "the count of parked waiters stays too high, so exits take the slow path, which violates no claim",
        keys: &[
            "ticket_sleeping.rs TicketSleeping::wait: remove `m.at(\"d\").fetch_add(&self.parked, 1_u64.wrapping_neg())?;`",
            "ticket_sleeping.rs TicketSleeping::wait: swap `if m.at(\"2\").test(self.tickets.serv…g| serving == t)? { return Ok(t); }` and `m.at(\"a\").fetch_add(&self.parked, 1)?;`",
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
            "priority_queue.rs PriorityQueue::is_before: `one.is_none() && other.is_some()`: without `one.is_none()`",
        ],
    },
    Judgement {
        reason: "differs for two dummies only, and which of two is first is left open",
        keys: &[
            "priority_queue.rs PriorityQueue::is_before: `one.is_none() && other.is_some()`: without `other.is_some()`",
            "priority_queue.rs PriorityQueue::is_before: `one.is_none() && other.is_some()`: `&&` -> `||`",
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
            "ticket_dispenser.rs TicketDispenser::obtain: `i < bound && self.is_in_use(m, \"47\", first + i)?`: without `self.is_in_use(m, \"47\", first + i)?`",
            "ticket_dispenser.rs TicketDispenser::obtain: `bound.min(2 * i)`: `min` -> `max`",
            "ticket_dispenser.rs TicketDispenser::obtain: `i < bound && self.is_in_use(m, \"47\", first + i)?`: `&&` -> `||`",
        ],
    },
    Judgement {
        reason: "tickets in use are within a third of the circle of each other, so half of it is never reached",
        keys: &[
            "ticket_dispenser.rs is_before: `2 * ((j + all - i) % all) < all`: `<` -> `<=`",
        ],
    },
    Judgement {
        reason: "tickets in use are different",
        keys: &[
            "ticket_dispenser.rs is_before: `i != j && 2 * ((j + all - i) % all) < all`: without `i != j`",
        ],
    },
    Judgement {
        reason: "only the rule uses it",
        keys: &[
            "ticket_dispenser.rs are_close: `3 * ahead.min(all - ahead) < all`: `<` -> `<=`",
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
            "ticket_dispenser.rs TicketDispenser::done: swap `m.at(\"59\").write(&self.tickets[(tic….n) % (7 * self.n)], State::Free)?;` and `m.at(\"60\").write(&self.last_ticket, ticket)`",
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
            "ticket_sleeping.rs TicketSleeping::wake: swap `m.at(\"6\").write(&self.asleep[i], false)?;` and `m.at(\"6\").fetch_add(&self.parked, 1_u64.wrapping_neg())?;`",
            "ticket_sleeping.rs TicketSleeping::wait: swap `m.at(\"e\").write(&self.woken[p], false)?;` and `m.at(\"e\").write(&self.wants[p], t)?;`",
            "ticket_sleeping.rs TicketSleeping::wait: swap `m.at(\"e\").write(&self.wants[p], t)?;` and `m.at(\"e\").write(&self.asleep[p], true)?;`",
        ],
    },
    Judgement {
        reason: "the count is too high, so exits take the slow path, which violates no claim",
        keys: &[
            "ticket_sleeping.rs TicketSleeping::wake: remove `m.at(\"6\").fetch_add(&self.parked, 1_u64.wrapping_neg())?;`",
            "ticket_sleeping.rs TicketSleeping::wait: swap `m.at(\"d\").fetch_add(&self.parked, 1_u64.wrapping_neg())?;` and `self.bucket.exit(m, p, &())?;`",
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
            "ticket_dispenser.rs TicketDispenser::obtain: `i < bound && self.is_in_use(m, \"47\", first + i)?`: without `i < bound`",
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
];

/// Mutants that survive all but the long checks, by what is known of them: each is a finding about the sizes that are
/// checked.
#[rustfmt::skip]
pub const SURVIVING: &[Judgement] = &[
    Judgement {
        reason: "no check loses a claim, though some are cut at a limit: the order of the two writes of the exit section, and whether the turn \
                 goes to the next process or to the next that competes, cost time and perhaps a bound on bypass, which is not claimed",
        keys: &[
            "knuth.rs Knuth::exit: swap `m.at(\"L3\").write(&self.k, (i + n - 1) % n)?;` and `m.at(\"L4\").write(&self.control[i], 0)`",
            "eisenberg_mcguire.rs EisenbergMcguire::exit: `j == i`: `==` -> `!=`",
            "eisenberg_mcguire.rs EisenbergMcguire::exit: `is_found` -> `true`",
            "eisenberg_mcguire.rs EisenbergMcguire::exit: swap `m.at(\"10\").write(&self.turn, next)?;` and `m.at(\"11\").write(&self.flag[i], IDLE)`",
            "eisenberg_mcguire.rs EisenbergMcguire::wait: `m.at(\"8\").write(&self.turn, i)` -> `Ok(())`",
            "eisenberg_mcguire.rs EisenbergMcguire::is_alone: swap `if !m.all_but(i, self.flag.len(), |… != ACTIVE))? { return Ok(false); }` and `let turn = m.at(\"6\").read(&self.turn)?;`",
        ],
    },
    Judgement {
        reason: "the distance grows for ever in the exit section, so the search ends at a limit before it can judge that section",
        keys: &[
            "eisenberg_mcguire.rs EisenbergMcguire::exit: `is_found` -> `false`",
        ],
    },
    Judgement {
        reason: "the check of three processes is cut at a limit, and two processes do not need it",
        keys: &[
            "renaming_tree.rs Splitter::release: `direction == Direction::Stop` -> `true`",
        ],
    },
    Judgement {
        reason: "four processes are needed to see it: without line 23, `k-bakery-fife n=4 k=2 passages=1 fife` fails (72,817,163 states); three \
                 processes never need what line 23 writes, and all of these make lines 22 and 23 useless",
        keys: &[
            "k_bakery.rs KBakery::wait_unless: `done(m)? || left.len() < self.k`: without `done(m)?`",
            "k_bakery_fife.rs KBakeryFife::captured: `m.fold(self.base.ticket.len(), fals…< ticket)?; Ok(captured || by_i) })` -> `Ok(false)`",
            "k_bakery_fife.rs KBakeryFife::captured: `captured || by_i`: without `captured`",
            "k_bakery_fife.rs KBakeryFife::captured: `captured || by_i`: without `by_i`",
            "k_bakery_fife.rs KBakeryFife::captured: `captured || by_i`: `||` -> `&&`",
            "k_bakery_fife.rs KBakeryFife::wait: `self.captured(m, p, mine)` -> `Ok(false)`",
            "k_bakery_fife.rs KBakeryFife::wait: remove `self.capture.broadcast(m, \"23\", p, mine)?;`",
        ],
    },
    Judgement {
        reason: "three processes with k = 2 and any number of passages may show it; that check takes more than 8 GB and was not completed",
        keys: &[
            "k_bakery_safe.rs KBakerySafe::captured: `m.fold(self.ticket.len(), false, |m…< ticket)?; Ok(captured || by_i) })` -> `Ok(false)`",
            "k_bakery_safe.rs KBakerySafe::captured: `captured || by_i`: without `captured`",
            "k_bakery_safe.rs KBakerySafe::captured: `captured || by_i`: without `by_i`",
            "k_bakery_safe.rs KBakerySafe::captured: `captured || by_i`: `||` -> `&&`",
            "k_bakery_safe.rs KBakerySafe::wait: `self.captured(m, p, mine)? || left.len() < self.k`: without `self.captured(m, p, mine)?`",
            "k_bakery_safe.rs KBakerySafe::wait: remove `m.each_but(p, self.ticket.len(), |m…\"45\", (p, i), mine)?; } Ok(()) })?;`",
            "k_bakery_safe.rs KBakerySafe::wait: remove `if m.at(\"44\").test(&self.ticket[i],…re.write(m, \"45\", (p, i), mine)?; }`",
            "k_bakery_safe.rs KBakerySafe::wait: `m.at(\"44\").test(&self.ticket[i], |ticket| last <= ticket)?` -> `true`",
            "k_bakery_safe.rs KBakerySafe::wait: `last <= ticket`: `<=` -> `<`",
            "k_bakery_safe.rs KBakerySafe::wait: `last <= ticket`: `<=` -> `>=`",
            "k_bakery_safe.rs KBakerySafe::wait: remove `self.capture.write(m, \"45\", (p, i), mine)?;`",
        ],
    },
    Judgement {
        reason: "`k-bakery-safe n=3 k=2 passages=1 tso` is the smallest check that could see it, and is a long one",
        keys: &[
            "k_bakery_safe.rs KBakerySafe::wait: `m.at(\"45\").fence()` -> `Ok(())`",
        ],
    },
    Judgement {
        reason: "acknowledgements matter on safe registers with three processes, k = 2 and a crash: without them a process starves there; two \
                 of these fail among the first 10 million states, of the others that does not decide anything",
        keys: &[
            "dolev_gafni_shavit.rs DolevGafniShavit::has_seen: `m.all(copies, |m, i| m.at([\"8\", \"9\"…- i][(j, p)], |seen| seen == mine))` -> `Ok(false)`",
            "dolev_gafni_shavit.rs DolevGafniShavit::has_seen: `m.at([\"8\", \"9\"][i]).test(&self.seen… - i][(j, p)], |seen| seen == mine)` -> `Ok(false)`",
            "dolev_gafni_shavit.rs DolevGafniShavit::wait: remove `m.each_but(p, self.x.len(), |m, j| ….seen[copy][(p, j)], seen[j])) })?;`",
            "dolev_gafni_shavit.rs DolevGafniShavit::wait: swap `m.each_but(p, self.x.len(), |m, j| ….seen[copy][(p, j)], seen[j])) })?;` and `m.spin(|m| { fewer_than(m, self.k, …eems_before(m, j, p, *mine)?) }) })`",
            "dolev_gafni_shavit.rs DolevGafniShavit::wait: remove `if m.at(\"5\").test(&self.seen[0][(p,…ast == seen[j])? { return Ok(()); }`",
            "dolev_gafni_shavit.rs DolevGafniShavit::wait: `m.at(\"5\").test(&self.seen[0][(p, j)], |last| last == seen[j])?` -> `true`",
            "dolev_gafni_shavit.rs DolevGafniShavit::wait: `m.fold(self.seen.len(), (), |m, (),…&self.seen[copy][(p, j)], seen[j]))` -> `Ok(())`",
            "dolev_gafni_shavit.rs DolevGafniShavit::wait: `m.at([\"5\", \"6\"][copy]).write(&self.seen[copy][(p, j)], seen[j])` -> `Ok(())`",
            "dolev_gafni_shavit.rs DolevGafniShavit::wait: `j != p && m.at(\"7\").test(&self.x[j]… && !self.has_seen(m, j, p, *mine)?`: without `!self.has_seen(m, j, p, *mine)?`",
        ],
    },
    Judgement {
        reason: "a fence that only `afek n=4 k=2 passages=1 tso fife` needs, a long check",
        keys: &[
            "afek.rs Afek::wait: `m.at(\"7\").fence()` -> `Ok(())`",
        ],
    },
    Judgement {
        reason: "kept for up to three processes; locks of several levels, whose order these change, take four",
        keys: &[
            "kim_anderson.rs KimAnderson::wait: swap `self.locks[place - 1].lock(m, Direction::Stop, p)?;` and `m.fold(depth(place), (), |m, (), up…); locks.lock(m, direction, p) })?;`",
            "kim_anderson.rs KimAnderson::exit: swap `if !self.tree.stops(place) { self.t…rn self.overflow.exit(m, p, &()); }` and `self.top.unlock(m, 0, p)?;`",
            "kim_anderson.rs KimAnderson::exit: swap `m.fold(depth, (), |m, (), down| { l… locks.unlock(m, direction, p) })?;` and `self.locks[place - 1].unlock(m, Direction::Stop, p)?;`",
        ],
    },
    Judgement {
        reason: "kept at every size checked; a stale ticket on line 8 is believed to take four processes, k = 3 and two crashes",
        keys: &[
            "log_k.rs LogK::update: `a < u.round() && m.at(\"8\").test(&self.exit, |exit| exit <= stale)?`: without `m.at(\"8\").test(&self.exit, |exit| exit <= stale)?`",
            "log_k.rs LogK::update: `exit <= stale`: `<=` -> `<`",
        ],
    },
    Judgement {
        reason: "`renaming-tree n=3 passages-in-all=7` refutes it, a long check",
        keys: &[
            "renaming_tree.rs Splitter::release: `direction == Direction::Stop`: `==` -> `!=` #2",
        ],
    },
    Judgement {
        reason: "the rule is kept for two processes, and for three with 7 calls together (of the swap of lines r8 and r9: with 5)",
        keys: &[
            "renaming_tree.rs RenamingTree::leave: swap `self.ascend(m, p, place)?;` and `self.clear(m, place)`",
            "renaming_tree.rs Splitter::acquire: swap `m.at(\"a3\").write(&self.y, Status::TAKEN)?;` and `m.at(\"a4\").write(&self.obst[p], true)?;`",
            "renaming_tree.rs Splitter::acquire: swap `if m.at(\"a5\").test(&self.x, |x| x !…d)? { return Ok(Direction::Left); }` and `m.at(\"a7\").write(&self.round[y.round], true)?;`",
            "renaming_tree.rs Splitter::release: swap `m.at(\"r2\").write(&self.x, p)?;` and `m.at(\"r3\").write(&self.obst[p], false)?;`",
            "renaming_tree.rs Splitter::release: `direction == Direction::Stop || m.a…self.round[round], |round| !round)?`: without `m.at(\"r7\").test(&self.round[round], |round| !round)?`",
            "renaming_tree.rs Splitter::release: swap `if clear { let next = Status { free…m.at(\"r9\").write(&self.y, next)?; }` and `if direction == Direction::Stop { m…rite(&self.round[round], false)?; }`",
            "renaming_tree.rs Splitter::release: swap `m.at(\"r8\").write(&self.reset, next)?;` and `m.at(\"r9\").write(&self.y, next)?;`",
        ],
    },
    Judgement {
        reason: "the rule is kept for two processes, and for three with 5 calls together; with 7 it is not decided",
        keys: &[
            "renaming_tree.rs Splitter::acquire: swap `if m.at(\"a8\").test(&self.reset, |re…se)?; return Ok(Direction::Left); }` and `m.at(\"a10\").write(&self.acquired, true)?;`",
        ],
    },
];
