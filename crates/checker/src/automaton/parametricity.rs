//! The test that an algorithm depends only on the order of its tickets.
use doorway_memory::{Pid, Value, ticket_comparisons};

use super::{
    Automaton,
    execute::{Ran, broken, run},
};
use crate::{
    access::Access,
    error::{Error, Fault},
    program::Program,
    tickets::{self, Numbering, TicketSet},
    view::Word,
};

impl Automaton {
    /// Tests that a step does the same with wider gaps between its tickets, and that no comparison depends on their
    /// width.
    ///
    /// Renumbering is sound only if a process depends on nothing but the order of its tickets, and on whether one is
    /// the next of another. So every step is tested when it is learnt. `from_history` and `word_read` are what the process
    /// has seen, with numbers filled in for forgotten tickets, and `ran` is what it did then.
    pub(super) fn check_ticket_parametricity(
        &self,
        program: &dyn Program,
        p: Pid,
        local: u32,
        (from_history, word_read): (&[Word], u64),
        ran: &Ran,
    ) -> Result<(), Error> {
        /// By 1 and 2, so that remainders change; and by a large number, so that differences do.
        const WIDER_BY: [u64; 3] = [1, 2, FAR];
        const FAR: u64 = 1 << 20;
        let from = self.local(p, local);
        let kind = |access: Access| self.registers[access.reg as usize].kind;
        let [accesses, did_access] = [from.access, ran.access].map(|access| access.filter(|a| a.register().is_some()));
        let read = accesses.map(|access| (kind(access), word_read));
        let seen = from_history
            .iter()
            .map(|word| (word.kind, word.bits))
            .chain(read)
            .try_fold(TicketSet::EMPTY, |set, (kind, word)| Ok(set.union(tickets::of(kind, word)?)))
            .map_err(|fault| broken(p, self.whereabouts(p, local), fault))?;
        let mut made = Vec::new();
        ran.history.iter().for_each(|word| tickets::collect(word.kind, word.bits, &mut made));
        did_access.iter().for_each(|access| tickets::collect(kind(*access), ran.written, &mut made));
        if seen.is_empty() && made.is_empty() {
            return Ok(());
        }
        for by in WIDER_BY {
            let widened = Numbering::widening(seen, self.wide, by);
            let word = accesses.map_or(word_read, |access| widened.apply_to(kind(access), word_read));
            let history = from_history.iter().map(|word| Word { bits: widened.apply(word), ..*word }).collect();
            let (wide, compared) =
                ticket_comparisons(|| run(program, p, from.section, from.passages, history, self.setting, word));
            let wide = wide?;

            let same_access = match (&wide.access, &ran.access) {
                (Some(wide), Some(ran)) => wide.what() == ran.what(),
                (wide, ran) => wide.is_none() && ran.is_none(),
            };
            let same_written = did_access
                .is_none_or(|access| widened.apply_with_next(kind(access), ran.written) == Some(wide.written));
            let same_history = wide.history.len() == ran.history.len()
                && std::iter::zip(&wide.history, &ran.history).all(|(wide, ran)| {
                    wide.what == ran.what && widened.apply_with_next(ran.kind, ran.bits) == Some(wide.bits)
                });
            let same = same_access && wide.section == ran.section && same_written && same_history;
            let alike = by < FAR || compared.iter().all(|(a, b)| widened.compares_alike(a.to_word(), b.to_word()));
            if !(same && alike) {
                let history = from_history.to_vec();
                let again = run(program, p, from.section, from.passages, history, self.setting, word_read)?;
                let fault = if again.is(ran) { Fault::TicketArithmetic } else { Fault::Nondeterminism };
                return Err(broken(p, self.whereabouts(p, local), fault));
            }
        }
        Ok(())
    }
}
