//! A lock or a part to check, whatever its type.
use doorway_memory::{Cost, Exclusion, Part, Property};

use crate::{
    Covering, Error, Model, Registers, RemoteReferences, Report, View, check_program, covering,
    program::{Lock, Piece, Program},
    properties, remote,
};

/// A lock or a part whose type is erased, with its registers.
///
/// Code that finds algorithms by name makes a subject of each, and can then apply everything that this crate computes.
///
/// ```
/// use doorway_algorithms::mutex::peterson::Peterson;
/// use doorway_checker::{Bound, Cost, Model, Property, Subject};
///
/// let subject = Subject::lock(Peterson::new);
/// assert!(subject.check(&Model::new(2))?.holds(Property::Fcfs));
/// assert_eq!(subject.remote_references(&Model::new(2), Cost::Dsm)?.worst(), Bound::Unbounded);
/// assert!(!subject.is_abortable());
/// # Ok::<(), doorway_checker::Error>(())
/// ```
pub struct Subject {
    pub(crate) program: Box<dyn Program>,
    pub(crate) registers: Registers,
}

impl Subject {
    /// A lock, built by `make`.
    ///
    /// See the [type's example](Subject).
    pub fn lock<A: Exclusion<View> + 'static>(make: impl FnOnce(&mut Registers) -> A) -> Subject {
        let mut registers = Registers::default();
        let program = Box::new(Lock::make(&mut registers, make));
        Subject { program, registers }
    }

    /// A part, built by `make`.
    ///
    /// ```
    /// use doorway_algorithms::parts::bouncer::Bouncer;
    /// use doorway_checker::{Model, Property, Subject};
    /// assert!(Subject::part(Bouncer::new).check(&Model::new(2))?.holds(Property::Rule));
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    pub fn part<A: Part<View> + 'static>(make: impl FnOnce(&mut Registers) -> A) -> Subject {
        let mut registers = Registers::default();
        let program = Box::new(Piece::make(&mut registers, make));
        Subject { program, registers }
    }

    /// Checks it; see [`check`](crate::check).
    ///
    /// # Errors
    /// As [`check`](crate::check).
    pub fn check(&self, model: &Model) -> Result<Report, Error> {
        check_program(&*self.program, &self.registers, model)
    }

    /// Computes the worst-case remote memory references of a lock; see [`remote_references`](crate::remote_references).
    ///
    /// # Errors
    /// As [`remote_references`](crate::remote_references), and if it is a part.
    pub fn remote_references(&self, model: &Model, cost: Cost) -> Result<RemoteReferences, Error> {
        self.is_lock("a part has no passages in which to count remote memory references")?;
        remote::of_program(&*self.program, &self.registers, model, cost)
    }

    /// Applies the covering argument to a lock; see [`covering`](crate::covering).
    ///
    /// # Errors
    /// As [`covering`](crate::covering), and if it is a part.
    pub fn covering(&self, model: &Model) -> Result<Covering, Error> {
        self.is_lock("a part has no critical section, which the covering argument is about")?;
        covering::of_program(&*self.program, &self.registers, model)
    }

    /// The properties that are checked of it.
    ///
    /// ```
    /// use doorway_algorithms::mutex::peterson::Peterson;
    /// use doorway_checker::{Model, Property, Subject};
    /// assert_eq!(Subject::lock(Peterson::new).properties(&Model::new(2)), Property::OF_LOCKS);
    /// ```
    #[must_use]
    pub fn properties(&self, model: &Model) -> &'static [Property] {
        properties::of(&*self.program, model)
    }

    /// Whether it is a lock with a [recovery](Exclusion::recovery).
    ///
    /// ```
    /// use doorway_algorithms::kexclusion::k_bakery::KBakery;
    /// assert!(doorway_checker::Subject::lock(|space| KBakery::new(space, 2, 1)).is_reapable());
    /// ```
    #[must_use]
    pub fn is_reapable(&self) -> bool {
        self.program.is_reapable()
    }

    /// Whether it is a lock whose waiters can [abort](Exclusion::aborting).
    ///
    /// See the [type's example](Subject).
    #[must_use]
    pub fn is_abortable(&self) -> bool {
        self.program.is_abortable()
    }

    fn is_lock(&self, otherwise: &str) -> Result<(), Error> {
        if self.program.is_part() { Err(Error::Model(otherwise.to_string())) } else { Ok(()) }
    }
}
