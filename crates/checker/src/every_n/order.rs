//! The order in which processes enter, as relations between the members of a view.
//!
//! A member that waits knows which others have started the doorway since it completed its own (`late`), and which of these
//! have entered since (`ahead`). So a view in which q enters while p has it as late shows that the lock is not
//! first-come-first-served; k such p at once, that it is not k-first-come-first-served.
//!
//! First-in-first-enabled: a member that others are ahead of must enter within a bounded number of its own steps. Its steps
//! lead from local state to local state. If none of them, in any view, is on a cycle, their number is bounded.
use doorway_memory::Property;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Stop, config::Config, views::Views};
use crate::program::Section;

/// What has been seen of the order.
#[derive(Default)]
pub(super) struct Order {
    /// The largest number of members that another one has overtaken by one entry.
    overtaken: usize,
    /// The steps that members took in the waiting section while others were ahead of them.
    steps: FxHashSet<(u32, u32)>,
}

impl Order {
    /// Whether a property about order has been seen not to hold.
    pub(super) fn lacks(&self, property: Property, k: usize) -> bool {
        match property {
            Property::Fcfs => self.overtaken >= 1,
            Property::KFcfs => self.overtaken >= k,
            Property::Fife => has_cycle(&self.steps),
            _ => true,
        }
    }
}

impl Views {
    /// Takes note of a step of a member from the local state `from`.
    pub(super) fn observe(&mut self, after: &mut Config, mover: usize, from: u32) {
        let [before, now] = [from, after.members[mover].local].map(|local| self.processes.section(local));
        let bit = 1 << mover;
        if before == Section::Remainder && now != Section::Remainder {
            for p in (0..after.members.len()).filter(|&p| p != mover) {
                if self.processes.section(after.members[p].local) == Section::Wait {
                    after.members[p].late |= bit;
                }
            }
        }
        if now.is_critical() && !before.is_critical() {
            let mut overtaken = 0;
            for member in after.members.iter_mut().filter(|member| member.late & bit != 0) {
                member.late &= !bit;
                member.ahead |= bit;
                overtaken += 1;
            }
            if after.members.len() == self.m {
                self.order.overtaken = self.order.overtaken.max(overtaken);
            }
        }
        if now != Section::Wait {
            (after.members[mover].late, after.members[mover].ahead) = (0, 0);
        }
    }

    /// Takes note of a step of a member of a view that others are ahead of.
    pub(super) fn observe_waiting(&mut self, view: &Config, after: &Config, mover: usize) -> Result<(), Stop> {
        if view.members[mover].ahead == 0 || after.members[mover].ahead == 0 {
            return Ok(());
        }
        let [from, to] = [self.alone(view, mover)?, self.alone(after, mover)?].map(|member| member.local);
        self.order.steps.insert((from, to));
        Ok(())
    }
}

/// Whether some steps can be repeated for ever.
fn has_cycle(steps: &FxHashSet<(u32, u32)>) -> bool {
    let mut left: FxHashMap<u32, usize> = FxHashMap::default();
    for &(from, to) in steps {
        *left.entry(from).or_default() += 1;
        left.entry(to).or_default();
    }
    // Those from which no step is left cannot be on a cycle.
    let mut ends: Vec<u32> = left.iter().filter(|&(_, &steps)| steps == 0).map(|(&local, _)| local).collect();
    while let Some(end) = ends.pop() {
        left.remove(&end);
        for &(from, to) in steps.iter().filter(|&&(_, to)| to == end) {
            debug_assert_eq!(to, end);
            let steps = left.get_mut(&from).expect("it still has this step");
            *steps -= 1;
            if *steps == 0 {
                ends.push(from);
            }
        }
    }
    !left.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_found() {
        let steps = |pairs: &[(u32, u32)]| pairs.iter().copied().collect();
        assert!(!has_cycle(&steps(&[])));
        assert!(!has_cycle(&steps(&[(1, 2), (2, 3), (1, 3), (4, 3)])));
        assert!(has_cycle(&steps(&[(1, 2), (2, 3), (3, 2), (3, 4)])));
        assert!(has_cycle(&steps(&[(5, 5)])));
    }
}
