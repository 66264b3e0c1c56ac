//! Mutants that no check refutes, though a larger one might.
use super::Judgement;

/// Mutants that survive all but the long checks, by what is known of them: each is a finding about the sizes that are
/// checked.
#[rustfmt::skip]
pub const SURVIVING: &[Judgement] = &[
    Judgement {
        reason: "kept at every size checked: the processes that publish a queue after a waiter's arrival are behind it, so what they write later assigns \
                 no name to it",
        keys: &[
            "fischer_queue_copied.rs FischerQueueCopied::wait: `let Some(name) = queue.name(p) && m…\"4\").validate(&self.current, link)?`: without `m.at(\"4\").validate(&self.current, link)?`",
        ],
    },
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
    Judgement {
        reason: "a process may then forget `fenced` while a task that has seen it locks the list, so that a release finds neither: it would take three processes with several passages, which are not complete",
        keys: &[
            "ticket_async.rs TicketAsync::suspend: swap `self.list.wait(m, p, &())?;` and `if !m.at(\"b\").test(&self.fenced, |f…ed, true)?; m.at(\"b\").barrier()?; }`",
        ],
    },
    Judgement {
        reason: "a release that needs the fence then leaves it out, which shows with store buffers only: `ticket-async n=2 tso` refutes it",
        keys: &[
            "ticket_async.rs TicketAsync::leave: `self.is_listed(m, \"4\")? || { m.at(\"…fence()?; self.is_listed(m, \"4\")? }`: `||` -> `&&`",
        ],
    },
];
