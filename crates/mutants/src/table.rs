//! The results of a campaign as a document.
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use crate::{
    campaign::{Fate, Reference},
    checks::{Tier, checks},
    judgements::{EQUIVALENT, Judgement, SURVIVING, is_equivalent},
};

/// The results of a campaign.
pub struct Results<'c> {
    fates: &'c [Fate],
    references: &'c [Reference],
    uncompilable: usize,
}

/// The mutants of a file, counted by result.
#[derive(Clone, Copy, Default)]
struct Counts {
    mutants: usize,
    refuted: usize,
    refused: usize,
    equivalent: usize,
    not_run: usize,
    surviving: usize,
}

/// The mutants that a check refuted, counted.
#[derive(Clone, Copy, Default)]
struct Kills {
    /// Mutants that no earlier check refuted.
    first: usize,
    /// Mutants that it refuted.
    all: usize,
    /// Mutants that no other check refuted.
    alone: usize,
}

impl<'c> Results<'c> {
    /// Creates the results from the outcomes on mutants and on originals.
    #[must_use]
    pub fn new(fates: &'c [Fate], references: &'c [Reference], uncompilable: usize) -> Results<'c> {
        Results { fates, references, uncompilable }
    }

    /// Whether every mutant is refuted or judged, and no judgement is wrong.
    ///
    /// A judgement of a mutant that does not exist is wrong only if the campaign was complete.
    #[must_use]
    pub fn is_clean(&self, is_complete: bool) -> bool {
        self.unjudged().is_empty() && self.wrong_judgements(is_complete).is_empty()
    }

    /// Survivors without a judgement.
    fn unjudged(&self) -> Vec<&'c Fate> {
        let is_judged = |key: &str| SURVIVING.iter().any(|judgement| judgement.keys.contains(&key));
        self.survivors().into_iter().filter(|fate| !is_judged(&fate.mutant.key())).collect()
    }

    fn survivors(&self) -> Vec<&'c Fate> {
        let fates = self.fates.iter();
        let is_open = |fate: &&Fate| fate.refuted().is_none() && !fate.checked.is_empty();
        fates.filter(is_open).filter(|fate| !is_equivalent(&fate.mutant.key())).collect()
    }

    /// Judgements of mutants that are refuted, or do not exist. A long check may refute those in `SURVIVING`.
    fn wrong_judgements(&self, is_complete: bool) -> Vec<String> {
        let judged = [(EQUIVALENT, Tier::Long), (SURVIVING, Tier::Slow)];
        let keys = judged
            .into_iter()
            .flat_map(|(all, most)| all.iter().flat_map(|judgement| judgement.keys).map(move |key| (*key, most)));
        let wrong = keys.filter_map(|(key, most)| match self.fates.iter().find(|fate| fate.mutant.key() == key) {
            Some(fate) => {
                let (at, how) = fate.refuted()?;
                let check = &self.references[at].check;
                (check.tier <= most).then(|| format!("`{key}` is said not to be refuted, but `{check}`: {how}"))
            }
            None => is_complete.then(|| format!("`{key}` is said not to be refuted, but there is no such mutant")),
        });
        wrong.collect()
    }

    fn counts(&self) -> BTreeMap<&'c str, Counts> {
        let mut by_file: BTreeMap<&str, Counts> = BTreeMap::new();
        for fate in self.fates {
            let counts = by_file.entry(&fate.mutant.file).or_default();
            counts.mutants += 1;
            match fate.refuted() {
                Some((_, how)) if how.starts_with("refused") || how == "hangs" => counts.refused += 1,
                Some(_) => counts.refuted += 1,
                None if fate.checked.is_empty() => counts.not_run += 1,
                None if is_equivalent(&fate.mutant.key()) => counts.equivalent += 1,
                None => counts.surviving += 1,
            }
        }
        by_file
    }

    fn kills(&self) -> Vec<Kills> {
        let mut kills = vec![Kills::default(); self.references.len()];
        for fate in self.fates {
            let by: Vec<usize> =
                fate.checked.iter().filter(|(_, how)| how.is_some()).map(|(check, _)| *check).collect();
            for &check in &by {
                kills[check].all += 1;
                kills[check].alone += usize::from(by.len() == 1);
            }
            if let Some(&first) = by.first() {
                kills[first].first += 1;
            }
        }
        kills
    }

    /// The results for a terminal.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut text = self.mutants_table();
        text += &self.checks_table();
        for fate in self.unjudged() {
            let _ = writeln!(text, "survives: {}", described(fate));
        }
        for wrong in self.wrong_judgements(false) {
            let _ = writeln!(text, "wrong judgement: {wrong}");
        }
        text
    }

    /// The results as `docs/mutants.md`.
    #[must_use]
    pub fn document(&self) -> String {
        let mut text = String::from(INTRODUCTION);
        let _ = writeln!(
            text,
            "\n## Mutants\n\n{} mutants compile; {} changes do not, and are left out.\n",
            self.fates.len(),
            self.uncompilable
        );
        text += &self.mutants_table();
        text += "\n## Checks\n\n";
        text += CHECKS_TEXT;
        text += &self.checks_table();
        text += "\n## Surviving mutants\n\n";
        text += "Neither a quick nor a slow check refutes these, and there is no argument that none could.\n";
        self.unjudged().iter().for_each(|fate| text += &format!("\n- {}\n", described(fate)));
        text += &judged(SURVIVING);
        text += "\n## Not run\n\nNo check runs these functions: only other crates, tests or broken algorithms call them.\n\n";
        let not_run: BTreeSet<String> = self
            .fates
            .iter()
            .filter(|fate| fate.checked.is_empty())
            .map(|fate| format!("- {} {}\n", fate.mutant.file, fate.mutant.function))
            .collect();
        not_run.iter().for_each(|function| text += function);
        text += "\n## Equivalent mutants\n\nNo check can refute these.\n";
        text + &judged(EQUIVALENT)
    }

    fn mutants_table(&self) -> String {
        let mut text = String::from(
            "| file | mutants | refuted | refused | equivalent | not run | surviving |\n|---|---:|---:|---:|---:|---:|---:|\n",
        );
        let mut total = Counts::default();
        let mut row = |name: &str, counts: Counts| {
            let Counts { mutants, refuted, refused, equivalent, not_run, surviving } = counts;
            let _ = writeln!(
                text,
                "| {name} | {mutants} | {refuted} | {refused} | {equivalent} | {not_run} | {surviving} |"
            );
        };
        for (file, counts) in self.counts() {
            row(file, counts);
            total.mutants += counts.mutants;
            total.refuted += counts.refuted;
            total.refused += counts.refused;
            total.equivalent += counts.equivalent;
            total.not_run += counts.not_run;
            total.surviving += counts.surviving;
        }
        row("all", total);
        text
    }

    fn checks_table(&self) -> String {
        let mut text = String::from(
            "| check | when | states | seconds | first | all | alone |\n|---|---|---:|---:|---:|---:|---:|\n",
        );
        for (reference, kills) in self.references.iter().zip(self.kills()) {
            let tier = tier(reference.check.tier);
            let Kills { first, all, alone } = kills;
            let (check, states, seconds) = (reference.check, reference.states(), reference.seconds());
            let _ = writeln!(text, "| {check} | {tier} | {states} | {seconds:.2} | {first} | {all} | {alone} |");
        }
        for check in checks().iter().filter(|check| !self.references.iter().any(|reference| reference.check == **check))
        {
            let _ = writeln!(text, "| {check} | {} | | | | | |", tier(check.tier));
        }
        text
    }
}

const INTRODUCTION: &str = "\
# Mutants

A mutant is an algorithm of the catalogue with one small change. A check of the table below must refute it: a property
that the original keeps at that size fails, a bound grows, a register becomes unbounded, or the checker refuses the
algorithm. This shows how sensitive the checks are. `scripts/mutants --write` writes this page.

A change removes a statement, replaces the result of an operation by a constant, swaps neighbouring statements, changes
a comparison, drops or exchanges an operand of `&&` and `||`, drops a `!` or a `.next()`, exchanges `min` and `max`,
flips a truth value, or fixes a condition. Constructors, representations of values and the rules of parts are not
changed. The removal of a fence is checked with store buffers, every other change without. A mutant of a file that
several algorithms use is refuted if a check of one of them refutes it.
";

const CHECKS_TEXT: &str = "\
Quick checks run on every mutant until one refutes it, the cheapest first; then the slow checks. Long checks run with
`--long`. *first*: mutants that no cheaper check refutes; *all*: mutants that it refutes; *alone*: mutants that no other
check refutes. A check runs on mutants that a cheaper check has refuted only if it takes fewer seconds than
`--all-below`; so *all* of a longer check is a lower bound, and *alone* an upper bound. States and seconds are those of
the original, on one thread.

";

fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Quick => "quick",
        Tier::Slow => "slow",
        Tier::Long => "long",
    }
}

fn judged(judgements: &[Judgement]) -> String {
    let mut text = String::new();
    for judgement in judgements {
        let _ = writeln!(text, "\n*{}*\n", judgement.reason);
        judgement.keys.iter().for_each(|key| text += &format!("- {key}\n"));
    }
    text
}

fn described(fate: &Fate) -> String {
    let mutant = &fate.mutant;
    let paper_line = mutant.mutant.paper_line.as_ref().map_or(String::new(), |line| format!(" (line {line})"));
    let mut notes = Vec::new();
    if fate.is_same {
        notes.push("same states and transitions");
    }
    if fate.is_cut {
        notes.push("grows: cut at a limit");
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" [{}]", notes.join("; ")) };
    format!(
        "{}:{}{paper_line} {}: {}{notes}",
        mutant.file, mutant.mutant.line, mutant.function, mutant.mutant.description
    )
}
