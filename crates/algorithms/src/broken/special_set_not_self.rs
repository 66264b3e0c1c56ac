//! The special set on a tree that adapts, with the obvious repair of Figure 5. R. Danek and W. Golab, *Closing the
//! complexity gap between FCFS mutual exclusion and mutual exclusion*, section 4.2.
//!
//! ```text
//! 36      if q ≠ ⊥ and q ≠ p and MyNode[q] ≠ ⊥:
//! ```
//!
//! Departures: those of `special-set-verbatim`, whose code this is but for line 36.
//!
//! Guarantees: both operations end in a bounded number of steps. Fails: the rule, from three processes on. A process
//! found at a node it was below before is in, but elsewhere; it is announced there, and what is above the node
//! still names the caller, which is gone: another that is in is never found.
use doorway_memory::{Memory, Property::*, Space};

use crate::{
    About,
    Claim::{Fails, Holds},
    Processes, Survey,
    parts::{
        renaming_tree::PlainTree,
        special_set_adaptive::{self, AdaptiveSet, Etiquette, Trust},
    },
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "special-set-not-self",
    title: "the special set on a tree that adapts, not returning oneself",
    source: "after Danek & Golab, section 4.2",
    processes: Processes::AtLeast(3),
    default_n: 3,
    survey: Survey::LeftOut,
    claims: &[Fails(Rule), Holds(WaitFree)],
    remark: "with two processes it is right: there is nobody else to be lost",
    departures: "",
    ..special_set_adaptive::ABOUT
};

/// The set with this repair, for `n` processes.
pub fn special_set<M: Memory>(space: &mut impl Space<Mem = M>, n: usize) -> Etiquette<M, AdaptiveSet<M, PlainTree<M>>> {
    let places = PlainTree::new(space, n);
    let set = AdaptiveSet::over(space, n, places).trusting(Trust::LeafOfAnother);
    Etiquette::new(space, n, set)
}
