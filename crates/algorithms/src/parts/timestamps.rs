//! Bounded timestamps, taken one after the other: the system T^n. A. Israeli and M. Li, 1993; here as in M. Herlihy, N.
//! Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor Programming*, 2nd ed., section 2.8.
//!
//! A label is n-1 ternary digits. Of two labels, the first digit in which they differ decides which is later: 1 is
//! later than 0, 2 than 1, and 0 than 2. So later-than can form a cycle, and the labels must be chosen such that it
//! does not.
//!
//! ```text
//!  1  scan: read label[j] for each j ≠ i
//!  2  descend from T^n, T^k being three copies of T^(k-1), to a node later than every label read:
//!     - the copy is the latest one that contains labels,
//!     - or, if that copy is full, with k-1 labels in it, the next copy; then the first node there
//!  3  label[i] := that node
//! ```
//!
//! The text describes this in words; the lines are this project's.
//!
//! Departures: all labels are initially 00…0; equal ones are ordered by their processes' numbers, as Exercise 2.11
//! allows. The text does not say what to do when all three copies contain labels, since that does not happen; the code
//! takes the first copy.
//!
//! Guarantees: while calls do not overlap, a new label is later than all others, so labels never form a cycle; a call
//! is n-1 reads and one write. For calls that overlap, see `timestamps-concurrent`.
//!
//! # How it is checked
//!
//! [`InSequence`] takes a label and then compares the registers. These steps are on line `-`: they are not the
//! timestamps'.
use alloc::{format, string::String, vec::Vec};
use core::fmt;

use doorway_memory::{Memory, Part, Pid, Property::*, Space, Value};

use crate::{About, Condition::Tso, Size, claim::holds, pinned::at, rule};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "timestamps",
    aliases: &["israeli-li"],
    title: "bounded timestamps",
    source: "Herlihy & Shavit, section 2.8",
    sequential: true,
    claims: &[holds(Rule), holds(WaitFree)],
    tolerates: &[Tso],
    remark: "calls do not overlap; if they do, it is `timestamps-concurrent`",
    pinned: &[
        at(3).finds(2_458),
        at(4).finds(592_021),
        at(3).under(&[Tso]).finds(3_436).fences(1),
        at(3).needs_fences(),
    ],
    ..About::PART
};

/// Creates the part for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> InSequence<M> {
    InSequence::new(space, size.n)
}

/// A node of T^n: a ternary number of n-1 digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Label {
    digits: u32,
    number: u32,
}

impl Label {
    /// 00…0.
    const fn zero(digits: u32) -> Label {
        Label { digits, number: 0 }
    }

    /// The digit at `index`, counted from the left.
    fn digit(self, index: u32) -> u32 {
        self.number / 3_u32.pow(self.digits - 1 - index) % 3
    }

    /// The label with one more digit at its right end.
    fn then(self, digit: u32) -> Label {
        Label { digits: self.digits + 1, number: 3 * self.number + digit }
    }

    fn is_later_than(self, other: Label) -> bool {
        let differ = (0..self.digits).find(|&index| self.digit(index) != other.digit(index));
        differ.is_some_and(|index| self.digit(index) == after(other.digit(index)))
    }
}

impl Value for Label {
    #[inline(always)]
    fn to_word(self) -> u64 {
        u64::from(self.number) << 8 | u64::from(self.digits)
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        Label { digits: word as u32 & 0xff, number: (word >> 8) as u32 }
    }
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..self.digits).try_for_each(|index| write!(f, "{}", self.digit(index)))
    }
}

/// The timestamps; see the [module](self).
pub struct Timestamps<M: Memory> {
    label: Vec<M::Reg<Label>>,
}

impl<M: Memory> Timestamps<M> {
    /// Timestamps for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        Timestamps { label: space.per_process("label", n, first(n)) }
    }
}

impl<M: Memory> Part<M> for Timestamps<M> {
    type Outcome = Label;
    const AGAIN: bool = true;

    fn call(&self, m: &mut M, p: Pid) -> Result<Label, M::Halt> {
        let seen = m.fold(self.label.len(), Vec::new(), |m, mut seen, j| {
            if j != p {
                seen.push(m.at("1").read(&self.label[j])?);
                seen.sort_unstable(); // order is irrelevant; sorting makes one state of several
            }
            Ok(seen)
        })?;
        let label = latest_of_all(&seen);
        m.at("3").write(&self.label[p], label)?;
        m.at("3").fence()?; // without it, a later call may miss the label
        Ok(label)
    }

    /// Labels form no cycle. If calls overlap, a label may be earlier than one that was taken before.
    fn rule(&self, latest: &[Option<Label>]) -> Result<(), String> {
        let label = |p: Pid| latest[p].unwrap_or(first(latest.len()));
        let later = |p, q| label(p).is_later_than(label(q)) || label(p) == label(q) && p > q;
        let n = latest.len();
        for (p, q, r) in (0..n).flat_map(|p| (0..n).flat_map(move |q| (0..n).map(move |r| (p, q, r)))) {
            if later(p, q) && later(q, r) && later(r, p) {
                let [a, b, c] = [p, q, r].map(|p| Shown(label(p)));
                return Err(format!("labels form a cycle: p{p}'s {a} after p{q}'s {b} after p{r}'s {c} after p{p}'s"));
            }
        }
        Ok(())
    }
}

/// Timestamps for calls that do not overlap, each judged when it ends; see the [module](self#how-it-is-checked).
pub struct InSequence<M: Memory>(Timestamps<M>);

impl<M: Memory> InSequence<M> {
    /// Timestamps for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        InSequence(Timestamps::new(space, n))
    }
}

impl<M: Memory> Part<M> for InSequence<M> {
    /// A process whose label is not earlier than the new one, if there is one.
    type Outcome = Option<Pid>;
    const AGAIN: bool = true;

    fn call(&self, m: &mut M, p: Pid) -> Result<Option<Pid>, M::Halt> {
        let InSequence(timestamps) = self;
        m.call(|m| timestamps.call(m, p))?;
        let mine = m.at("-").read(&timestamps.label[p])?;
        m.fold(timestamps.label.len(), None, |m, not_earlier, q| {
            let is_earlier = q == p || m.at("-").test(&timestamps.label[q], |label| mine.is_later_than(label))?;
            Ok(if is_earlier { not_earlier } else { Some(q) })
        })
    }

    fn rule(&self, latest: &[Option<Option<Pid>>]) -> Result<(), String> {
        rule::of_each_call(latest, |p, not_earlier| {
            Some(format!("p{p}'s new label is not later than p{}'s", not_earlier?))
        })
    }
}

/// The initial label.
fn first(n: usize) -> Label {
    Label::zero(n as u32 - 1)
}

fn after(digit: u32) -> u32 {
    (digit + 1) % 3
}

/// Line 2: a node that is later than all `others`. A label has as many digits as there are others.
fn latest_of_all(others: &[Label]) -> Label {
    let digits = others.len() as u32;
    let mut label = Label::zero(0);
    let mut here: Vec<Label> = others.to_vec();
    for index in 0..digits {
        let labels_in = |copy| here.iter().filter(|other| other.digit(index) == copy).count();
        let latest = (0..3).find(|&copy| labels_in(copy) > 0 && labels_in(after(copy)) == 0).unwrap_or(0);
        let capacity = (digits - index) as usize;
        let copy = if labels_in(latest) < capacity { latest } else { after(latest) };
        here.retain(|other| other.digit(index) == copy);
        label = label.then(copy);
    }
    label
}

/// Displays a label as traces do.
struct Shown(Label);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.show(f)
    }
}

#[cfg(test)]
mod tests {
    use doorway_memory::{Memory, Solo};

    use super::*;

    fn label(text: &str) -> Label {
        text.chars().fold(Label::zero(0), |label, digit| label.then(digit.to_digit(3).unwrap()))
    }

    #[test]
    fn takes_the_labels_of_the_texts_example() {
        let mut solo = Solo::new();
        let timestamps = Timestamps::new(&mut solo, 3);
        for (reg, text) in timestamps.label.iter().zip(["12", "21", "22"]) {
            solo.write(reg, label(text)).unwrap();
        }
        for (p, text) in [(1, "20"), (2, "21"), (1, "22"), (2, "20"), (0, "00"), (1, "01"), (2, "10")] {
            assert_eq!(timestamps.call(&mut solo, p), Ok(label(text)));
        }
    }

    #[test]
    fn new_label_is_always_the_latest() {
        for n in 2..=5 {
            let mut solo = Solo::new();
            let timestamps = Timestamps::new(&mut solo, n);
            let mut latest: Vec<Option<Label>> = alloc::vec![None; n];
            let mut random = 1_u64;
            for _ in 0..20_000 {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let p = (random >> 33) as usize % n;
                let Ok(mine) = timestamps.call(&mut solo, p);
                latest[p] = Some(mine);
                timestamps.rule(&latest).unwrap();
                for other in (0..n).filter(|&q| q != p) {
                    assert!(mine.is_later_than(latest[other].unwrap_or(first(n))), "n={n} {latest:?}");
                }
            }
        }
    }

    #[test]
    fn rule_for_sequential_calls_requires_the_latest_label() {
        let mut solo = Solo::new();
        let timestamps = InSequence::new(&mut solo, 3);
        assert_eq!(timestamps.call(&mut solo, 0), Ok(None));
        assert_eq!(timestamps.call(&mut solo, 2), Ok(None));
        assert!(timestamps.rule(&[Some(None), None, Some(None)]).is_ok());
        let complaint = timestamps.rule(&[Some(None), None, Some(Some(1))]).unwrap_err();
        assert_eq!(complaint, "p2's new label is not later than p1's");
    }

    #[test]
    fn rule_forbids_only_cycles() {
        let timestamps = Timestamps::new(&mut Solo::new(), 3);
        let rule = |labels: [&str; 3]| timestamps.rule(&labels.map(|text| Some(label(text))));
        assert!(rule(["12", "21", "22"]).is_ok());
        assert!(rule(["10", "10", "11"]).is_ok());
        assert!(timestamps.rule(&[Some(label("10")), None, None]).is_ok());
        assert_eq!(
            rule(["10", "11", "12"]).unwrap_err(),
            "labels form a cycle: p0's 10 after p2's 12 after p1's 11 after p0's"
        );
    }

    #[test]
    fn labels_round_trip_through_words_and_show_all_digits() {
        for text in ["0", "02", "210", "000000002"] {
            let label = label(text);
            assert_eq!(Label::of_word(label.to_word()), label);
            assert_eq!(format!("{}", Shown(label)), text);
        }
    }
}
