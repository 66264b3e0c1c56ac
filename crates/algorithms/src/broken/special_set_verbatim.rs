//! The special set on a tree that adapts, with Figure 5 as printed. R. Danek and W. Golab, *Closing the complexity gap
//! between FCFS mutual exclusion and mutual exclusion*, section 4.2.
//!
//! ```text
//! 36      if q ≠ ⊥ and MyNode[q] ≠ ⊥:
//! ```
//!
//! Departures: those of `special-set-adaptive`, whose code this is but for line 36. To have few states, leaves come from
//! the simplest renaming, lines a and r of [`PlainTree`]; with Kim and Anderson's it fails in the same way.
//!
//! Guarantees: both operations end in a bounded number of steps. Fails: the rule. Leaves change hands here, so a
//! process can find its own name at a sibling node, left there when it was in before, and be told of itself.
use doorway_memory::{Memory, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
    parts::{
        renaming_tree::PlainTree,
        special_set_adaptive::{self, AdaptiveSet, Etiquette, Trust},
    },
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "special-set-verbatim",
    title: "the special set on a tree that adapts, as printed",
    source: "Danek & Golab, section 4.2 with Fig. 5",
    claims: &[Fails(Rule), Holds(WaitFree)],
    remark: "the printed test is right for static leaves only",
    departures: "",
    ..special_set_adaptive::ABOUT
};

/// The set as printed, for `n` processes.
pub fn special_set<M: Memory>(space: &mut impl Space<Mem = M>, n: usize) -> Etiquette<M, AdaptiveSet<M, PlainTree<M>>> {
    let places = PlainTree::new(space, n);
    let set = AdaptiveSet::over(space, n, places).trusting(Trust::Leaf);
    Etiquette::new(space, n, set)
}
