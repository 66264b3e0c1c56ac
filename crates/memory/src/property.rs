//! The properties of algorithms.
use core::fmt;

/// A property of an algorithm; the [glossary](crate::glossary) has the definitions that the checker and the fuzzer's
/// explorer decide.
///
/// ```
/// use doorway_memory::Property;
/// assert_eq!(Property::Fcfs.to_string(), "fcfs");
/// assert_eq!(Property::named("fcfs"), Some(Property::Fcfs));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Property {
    /// At most k processes are in the critical section at once.
    Exclusion,
    /// If a process tries to enter or to leave, then eventually some process enters or has left.
    DeadlockFreedom,
    /// Every process that tries to enter or to leave eventually has.
    StarvationFreedom,
    /// First come, first served: a process that completes the doorway before another process begins it enters first.
    Fcfs,
    /// If k processes complete the doorway before another begins it, one of them enters before the other.
    KFcfs,
    /// First in, first enabled: if process q begins the doorway after p has completed it and enters before p, then p can
    /// enter in a bounded number of its own steps.
    Fife,
    /// The number of times that later arrivals enter before a waiter is bounded.
    Bypass,
    /// The exit section takes a bounded number of the process' own steps, whatever others do.
    BoundedExit,
    /// The doorway takes a bounded number of the process' own steps, whatever others do.
    WaitFreeDoorway,
    /// k-assignment: every holder has a name below k that no other holder has.
    Assignment,
    /// With expiries: a resource that refuses a token unless it is larger than those it has seen refuses no holder.
    Fenced,
    /// The results of a part's calls obey the part's rule.
    Rule,
    /// A part's call takes a bounded number of the process' own steps, whatever others do.
    WaitFree,
}

impl Property {
    /// Every property of a lock, in the order of tables.
    pub const OF_LOCKS: [Property; 9] = [
        Property::Exclusion,
        Property::DeadlockFreedom,
        Property::StarvationFreedom,
        Property::Fcfs,
        Property::KFcfs,
        Property::Fife,
        Property::Bypass,
        Property::BoundedExit,
        Property::WaitFreeDoorway,
    ];

    /// Every property of a lock that [assigns](crate::Assign) names: one more.
    ///
    /// ```
    /// # use doorway_memory::Property;
    /// assert!(Property::OF_ASSIGNING_LOCKS.starts_with(&Property::OF_LOCKS));
    /// ```
    pub const OF_ASSIGNING_LOCKS: [Property; 10] = {
        let mut all = [Property::Assignment; 10];
        let (of_locks, _) = all.split_at_mut(9);
        of_locks.copy_from_slice(&Property::OF_LOCKS);
        all
    };

    /// Every property of a lock whose holders have [tokens](crate::Fence): one more.
    ///
    /// ```
    /// # use doorway_memory::Property;
    /// assert!(Property::OF_FENCED_LOCKS.starts_with(&Property::OF_ASSIGNING_LOCKS));
    /// ```
    pub const OF_FENCED_LOCKS: [Property; 11] = {
        let mut all = [Property::Fenced; 11];
        let (assigning, _) = all.split_at_mut(10);
        assigning.copy_from_slice(&Property::OF_ASSIGNING_LOCKS);
        all
    };

    /// Every property of a part.
    pub const OF_PARTS: [Property; 2] = [Property::Rule, Property::WaitFree];

    /// The name on the command line and in JSON.
    ///
    /// ```
    /// # use doorway_memory::Property;
    /// assert_eq!(Property::WaitFreeDoorway.name(), "wait-free-doorway");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Property::Exclusion => "exclusion",
            Property::DeadlockFreedom => "deadlock-freedom",
            Property::StarvationFreedom => "starvation-freedom",
            Property::Fcfs => "fcfs",
            Property::KFcfs => "k-fcfs",
            Property::Fife => "fife",
            Property::Bypass => "bypass",
            Property::BoundedExit => "bounded-exit",
            Property::WaitFreeDoorway => "wait-free-doorway",
            Property::Assignment => "assignment",
            Property::Fenced => "fenced",
            Property::Rule => "rule",
            Property::WaitFree => "wait-free",
        }
    }

    /// The property of that name.
    ///
    /// ```
    /// # use doorway_memory::Property;
    /// assert_eq!(Property::named("exclusion"), Some(Property::Exclusion));
    /// assert_eq!(Property::named("fairness"), None);
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Property> {
        Self::OF_FENCED_LOCKS.into_iter().chain(Self::OF_PARTS).find(|property| property.name() == name)
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
