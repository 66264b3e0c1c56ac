//! What can be claimed of an algorithm.
use core::fmt;

/// What can be claimed of an algorithm, and checked.
///
/// ```
/// use doorway_memory::Property;
/// assert_eq!(Property::Fcfs.to_string(), "fcfs");
/// assert_eq!(Property::named("fcfs"), Some(Property::Fcfs));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Property {
    /// At most k processes are inside at once.
    Exclusion,
    /// If someone is trying to enter or to leave, then eventually someone enters or has left.
    DeadlockFreedom,
    /// Everyone who tries to enter or to leave eventually has.
    StarvationFreedom,
    /// Who is through the doorway before another starts it enters first.
    Fcfs,
    /// If k processes are through the doorway before another starts it, one of them enters before it.
    KFcfs,
    /// First-in-first-enabled: if one who started after I was through the doorway enters before me, I can enter in a
    /// bounded number of my own steps.
    Fife,
    /// There is a bound on how often one who came later enters first.
    Bypass,
    /// The exit takes a bounded number of one's own steps, whatever others do.
    BoundedExit,
    /// The doorway takes a bounded number of one's own steps, whatever others do.
    WaitFreeDoorway,
    /// k-assignment: everyone inside has a name, below k, that nobody else inside has.
    Assignment,
    /// What a part's calls return obeys the part's rule.
    Rule,
    /// A part's call takes a bounded number of one's own steps, whatever others do.
    WaitFree,
}

impl Property {
    /// Every property of a lock, in the order tables show them.
    ///
    /// ```
    /// # use doorway_memory::Property;
    /// assert_eq!(Property::OF_LOCKS[0], Property::Exclusion);
    /// ```
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

    /// Every property of a lock that [assigns](crate::Exclusion::ASSIGNS) names: one more.
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

    /// Every property of a part.
    ///
    /// ```
    /// # use doorway_memory::Property;
    /// assert!(Property::OF_PARTS.contains(&Property::Rule));
    /// ```
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
        Self::OF_ASSIGNING_LOCKS.into_iter().chain(Self::OF_PARTS).find(|property| property.name() == name)
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
