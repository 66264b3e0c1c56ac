//! Refusals: models that cannot be searched, or not for a program.
use crate::{
    actor::Packing,
    error::Error,
    model::{MAX_PROCESSES, Model},
    program::Program,
    properties, symmetry,
};

/// Whether a model can be searched.
pub(crate) fn model(model: &Model) -> Result<(), Error> {
    if model.n == 0 || model.n > MAX_PROCESSES {
        let n = model.n;
        return Err(Error::Model(format!("from 1 to {MAX_PROCESSES} processes can be checked, not {n}")));
    }
    if model.symmetric && model.n > symmetry::MOST {
        let (n, most) = (model.n, symmetry::MOST);
        return Err(Error::Model(format!("with symmetry up to {most} processes can be checked, not {n}")));
    }
    if model.safe_registers && model.has_real_tickets() {
        return Err(Error::Model(
            "on safe registers a ticket can be any number, so tickets cannot be limited".to_string(),
        ));
    }
    if model.forgets && model.expiries {
        return Err(Error::Model("with expiries nothing can be forgotten; check one without the other".to_string()));
    }
    if model.merges
        && let Some(other) = not_merged_with(model)
    {
        return Err(Error::Model(format!("states are not merged with {other}; check one without the other")));
    }
    let (n, most) = (model.n, Packing::most_processes(model));
    if n > most {
        let what = [(model.deaths, "deaths"), (model.aborts, "aborts"), (model.store_buffers, "store buffers")];
        let what: Vec<&str> = what.iter().filter(|(has, _)| *has).map(|(_, what)| *what).collect();
        let what = what.join(" and ");
        return Err(Error::Model(format!("with {what} up to {most} processes can be checked, not {n}")));
    }
    if model.has_interruptions() {
        interruptions(model)?;
    }
    if model.store_buffers && model.safe_registers {
        return Err(Error::Model(
            "a safe register has no store buffer before it; check one without the other".to_string(),
        ));
    }
    if model.store_buffers && model.symmetric {
        return Err(Error::Model(
            "symmetry cannot be combined with store buffers; check it without symmetry".to_string(),
        ));
    }
    if model.k == 0 {
        return Err(Error::Model("k is at least 1, not 0".to_string()));
    }
    if model.k > model.n {
        let (n, k) = (model.n, model.k);
        return Err(Error::Model(format!("k is at most the number of processes, {n}, not {k}")));
    }
    if model.passages == Some(0) || model.passages_in_all == Some(0) {
        return Err(Error::Model("without a passage there is nothing to check; allow at least 1".to_string()));
    }
    if model.crashes > model.n {
        let (n, crashes) = (model.n, model.crashes);
        return Err(Error::Model(format!("at most {n} of {n} processes can crash, not {crashes}")));
    }
    if model.passages_in_all.is_some_and(|passages| passages > 100) {
        return Err(Error::Model(
            "at most 100 passages in all can be counted; leave it out to have no limit".to_string(),
        ));
    }
    if model.ticket_cap.is_some_and(|cap| cap > 100) {
        return Err(Error::Model("the ticket cap is at most 100; leave it out for a complete search".to_string()));
    }
    Ok(())
}

/// What keeps states from being merged, if anything does.
fn not_merged_with(model: &Model) -> Option<&'static str> {
    let what = [
        (model.forgets, "forgetting"),
        (model.safe_registers, "safe registers"),
        (model.store_buffers, "store buffers"),
        (model.symmetric, "symmetry"),
        (model.expiries, "expiries"),
        (model.ticket_cap.is_some(), "a limit on tickets"),
        (model.passages_in_all.is_some(), "a limit on passages in all"),
    ];
    what.into_iter().find(|(has, _)| *has).map(|(_, what)| what)
}

/// The interruption that a message names.
fn interruption(model: &Model) -> &'static str {
    match () {
        () if model.expiries => "expiries",
        () if model.deaths => "deaths",
        () => "aborts",
    }
}

/// Whether a model with deaths, aborts or expiries can be searched.
fn interruptions(model: &Model) -> Result<(), Error> {
    let what = interruption(model);
    let refused = match () {
        () if model.expiries && model.store_buffers => {
            "expiries are checked without store buffers; check one without the other".to_string()
        }
        () if model.symmetric => {
            format!("symmetry cannot be combined with {what}; check it without symmetry")
        }
        () if model.safe_registers => format!("{what} are checked on atomic registers, not on safe ones"),
        () => return Ok(()),
    };
    Err(Error::Model(refused))
}

/// Whether a model can be applied to a program.
pub(crate) fn program(model: &Model, program: &dyn Program) -> Result<(), Error> {
    if program.is_part() && model.crashes > 0 {
        return Err(Error::Model("crashes apply to locks only; check a part without crashes".to_string()));
    }
    if program.is_part() && model.merges {
        return Err(Error::Model("only states of locks are merged; check a part without merging".to_string()));
    }
    if program.is_part() && model.has_interruptions() {
        let what = interruption(model);
        return Err(Error::Model(format!("{what} apply to locks only; check a part without {what}")));
    }
    if model.deaths && !program.is_reapable() {
        let what = interruption(model);
        return Err(Error::Model(format!("this lock has no recovery (`reap`); check it without {what}")));
    }
    if model.aborts && !program.is_abortable() {
        return Err(Error::Model("this lock is not abortable; check it without aborts".to_string()));
    }
    if program.is_part() && model.safe_registers {
        return Err(Error::Model("safe registers apply to locks only; check a part on atomic registers".to_string()));
    }
    if model.safe_registers && model.symmetric {
        return Err(Error::Model(
            "a safe register has one writer, so processes are not all alike; check it without symmetry".to_string(),
        ));
    }
    if model.symmetric {
        if !program.is_symmetric() {
            let why = "its processes use their numbers, so they are not all alike; check it without symmetry";
            return Err(Error::Model(why.to_string()));
        }
        if let Some(order) = model.properties.iter().find(|&&property| properties::is_about_order(property)) {
            let why = format!("`{order}` is about the order of processes; check it without symmetry");
            return Err(Error::Model(why));
        }
    }
    let all = properties::of(program, model);
    if let Some(other) = model.properties.iter().find(|property| !all.contains(property)) {
        let kind = if program.is_part() { "part" } else { "lock" };
        let all: Vec<&str> = all.iter().map(|property| property.name()).collect();
        return Err(Error::Model(format!("`{other}` is not a property of this {kind}; it has {}", all.join(", "))));
    }
    Ok(())
}
