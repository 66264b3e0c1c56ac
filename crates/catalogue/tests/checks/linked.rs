//! LL/SC in the checker: a store fails if and only if the register was written since the load.
use doorway_checker::{Error, Fault, Handle, Model, Property, View, check, check_part};
use doorway_memory::{Exclusion, Linked, Memory, Part, Pid, Space};

/// What process 1 does between the load and the store of process 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Between {
    Nothing,
    /// Reads the register.
    Load,
    /// Writes another value, then the old one.
    WriteTwice,
    /// Stores the current value conditionally.
    Store,
}

struct Disturbed {
    x: Handle<Linked<u8>>,
    loaded: Handle<bool>,
    done: Handle<bool>,
    between: Between,
}

impl Part<View> for Disturbed {
    /// For process 0: whether its store succeeded.
    type Outcome = bool;

    fn call(&self, m: &mut View, p: Pid) -> Result<bool, <View as Memory>::Halt> {
        if p == 0 {
            let link = m.load_linked(&self.x)?;
            m.write(&self.loaded, true)?;
            m.until(&self.done, |done| done)?;
            return m.store_conditional(&self.x, link, 9);
        }
        m.until(&self.loaded, |loaded| loaded)?;
        match self.between {
            Between::Nothing => {}
            Between::Load => {
                m.load_linked(&self.x)?;
            }
            Between::WriteTwice => {
                m.write_linked(&self.x, 8)?;
                m.write_linked(&self.x, 7)?;
            }
            Between::Store => {
                let link = m.load_linked(&self.x)?;
                assert!(m.store_conditional(&self.x, link, link.value())?, "no other process writes now");
            }
        }
        m.write(&self.done, true)?;
        Ok(true)
    }

    fn rule(&self, latest: &[Option<bool>]) -> Result<(), String> {
        let expected = matches!(self.between, Between::Nothing | Between::Load);
        if latest[0] == Some(!expected) { Err(format!("a store is {}", !expected)) } else { Ok(()) }
    }
}

#[test]
fn a_store_fails_exactly_if_the_register_was_written_since_the_load() {
    for between in [Between::Nothing, Between::Load, Between::WriteTwice, Between::Store] {
        for model in [Model::new(2), Model::new(2).tso()] {
            let report = check_part(&model, |space| Disturbed {
                x: space.shared("x", Linked::new(7)),
                loaded: space.shared("loaded", false),
                done: space.shared("done", false),
                between,
            });
            let report = report.expect("the algorithm keeps the rules");
            assert_eq!(report.incomplete, None);
            assert!(report.holds(Property::Rule), "{between:?}: {report}");
        }
    }
}

/// Treats all processes alike, so it may declare itself symmetric; its register does not.
struct LinkedFlag(Handle<Linked<bool>>);

impl Exclusion<View> for LinkedFlag {
    type Place = ();
    type Inside = ();
    const SYMMETRIC: bool = true;

    fn doorway(&self, _: &mut View, _: Pid) -> Result<(), <View as Memory>::Halt> {
        Ok(())
    }

    fn wait(&self, m: &mut View, _: Pid, (): &()) -> Result<(), <View as Memory>::Halt> {
        m.spin(|m| {
            let held = m.load_linked(&self.0)?;
            Ok(!held.value() && m.store_conditional(&self.0, held, true)?)
        })
    }

    fn exit(&self, m: &mut View, _: Pid, (): &()) -> Result<(), <View as Memory>::Halt> {
        m.write_linked(&self.0, false)
    }
}

#[test]
fn a_linked_register_is_refused_with_symmetry() {
    let found = |model: Model| check(&model, |space| LinkedFlag(space.shared("held", Linked::new(false))));
    assert!(found(Model::new(3)).unwrap().holds(Property::Exclusion));
    let Err(error) = found(Model::new(3).symmetric()) else { panic!("it is refused") };
    assert!(
        matches!(&error, Error::Broken { fault: Fault::LinkedAndSymmetric(name), .. } if name == "held"),
        "{error}"
    );
}
