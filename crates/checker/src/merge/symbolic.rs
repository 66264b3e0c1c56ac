//! Execution of a step with numbers of which only the order is known.
//!
//! A step can compare tickets and take their next ones. So it does the same for all numbers for which its comparisons have the same
//! results, and each ticket that it leaves behind is one that it found, or a few above it. To see which, a step is executed
//! with numbers far apart. If a comparison has another result than with the actual numbers, then these two are put in their
//! actual order, or if they are equal at their actual distance, and the step is executed again.
//!
//! The *guard* of a step is what the numbers must fulfil for it. It begins with the results of all comparisons; then results that
//! make no difference are left out: `x < y` becomes `x <= y` if the step does the same for equal numbers, which is
//! executed too.
use std::cmp::{Ordering, Reverse};

use doorway_memory::{Value, ticket_comparisons};

use super::{
    Refused,
    bounds::{AtMost, Bounds},
};

/// The distance of numbers that are far apart.
const APART: u64 = 1 << 12;
/// What is added to all numbers, so that a step which calculates with them does something else.
const OTHERWISE: [u64; 4] = [1, 2, 5, (1 << 20) + 7];
/// The most executions of one step, to find numbers for which its comparisons have the actual results.
const MOST_EXECUTED: usize = 200;
/// The most combinations of results that one guard may stand for.
const MOST_COMBINED: usize = 81;

/// A number that is one of those a step found, or some `next`s above it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Above {
    pub(super) slot: usize,
    pub(super) by: i32,
}

/// What a step does for all numbers that fulfil its guard.
#[derive(Debug)]
pub(super) struct Executed<R> {
    pub(super) guard: Vec<(AtMost, bool)>,
    pub(super) result: R,
    pub(super) made: Vec<Above>,
}

/// What a step does with given numbers: a result without tickets, and the tickets that it leaves behind.
pub(super) type Step<'a, R> = dyn FnMut(&[u64]) -> Result<(R, Vec<u64>), Refused> + 'a;

/// How the number x compares with the number y plus c.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Comparison {
    x: usize,
    y: usize,
    c: i32,
    result: Ordering,
}

impl Comparison {
    /// Of the two ways to say it, that in which x comes first.
    fn new(x: usize, y: usize, c: i32, result: Ordering) -> Comparison {
        if x <= y { Comparison { x, y, c, result } } else { Comparison { x: y, y: x, c: -c, result: result.reverse() } }
    }
}

/// One execution with numbers far apart.
struct Trace<R> {
    comparisons: Vec<Comparison>,
    result: R,
    made: Vec<Above>,
}

/// Executes a step with these numbers, of which the first is zero, and finds its guard. No number can be below its least one.
pub(super) fn execute<R: PartialEq>(
    numbers: &[i32],
    least: &[i32],
    step: &mut Step<'_, R>,
) -> Result<Executed<R>, Refused> {
    let trace = trace(numbers, step)?;
    let actual: Vec<u64> = numbers.iter().map(|&number| number as u64).collect();
    let (result, made) = step(&actual)?;
    let expected = trace.made.iter().map(|above| i64::from(numbers[above.slot] + above.by).cast_unsigned());
    if result != trace.result || !made.into_iter().eq(expected) {
        return Err(Refused::Arithmetic);
    }
    let mut guard: Vec<Results> = trace.comparisons.iter().map(|comparison| Results::of(*comparison)).collect();
    for at in 0..guard.len() {
        // Less before greater: a ticket is mostly compared by `<`, with the equal case on either side.
        for more in [Ordering::Equal, Ordering::Less, Ordering::Greater] {
            if guard[at].is_adjacent(more) && is_alike(&guard, at, more, &trace, least, step) {
                guard[at].add(more);
            }
        }
    }
    let guard = guard.into_iter().flat_map(Results::facts).collect();
    Ok(Executed { guard, result: trace.result, made: trace.made })
}

/// The results that a comparison may have.
#[derive(Clone, Copy)]
struct Results {
    x: usize,
    y: usize,
    c: i32,
    /// Less, equal, greater.
    may_be: [bool; 3],
}

impl Results {
    fn of(Comparison { x, y, c, result }: Comparison) -> Results {
        let mut results = Results { x, y, c, may_be: [false; 3] };
        results.add(result);
        results
    }

    fn add(&mut self, result: Ordering) {
        self.may_be[(result as i8 + 1) as usize] = true;
    }

    /// Whether it can be added so that no result in between is left out.
    fn is_adjacent(self, result: Ordering) -> bool {
        let [less, equal, greater] = self.may_be;
        match result {
            Ordering::Less => equal && !less,
            Ordering::Equal => !equal,
            Ordering::Greater => equal && !greater,
        }
    }

    fn each(self) -> impl Iterator<Item = Results> {
        let all = [Ordering::Less, Ordering::Equal, Ordering::Greater];
        let may = all.into_iter().filter(move |&result| self.may_be[(result as i8 + 1) as usize]);
        may.map(move |result| self.only(result))
    }

    fn only(self, result: Ordering) -> Results {
        let Results { x, y, c, .. } = self;
        Results::of(Comparison { x, y, c, result })
    }

    fn facts(self) -> Vec<(AtMost, bool)> {
        let Results { x, y, c, may_be } = self;
        let [not_above, below] = [AtMost { x, y, c }, AtMost { x, y, c: c - 1 }];
        match may_be {
            [true, false, false] => vec![(below, true)],
            [true, true, false] => vec![(not_above, true)],
            [false, true, false] => vec![(not_above, true), (below, false)],
            [false, true, true] => vec![(below, false)],
            [false, false, true] => vec![(not_above, false)],
            _ => Vec::new(),
        }
    }
}

/// Whether a step does the same if one comparison has another result, and the others any of those that they may have.
fn is_alike<R: PartialEq>(
    guard: &[Results],
    at: usize,
    more: Ordering,
    known: &Trace<R>,
    least: &[i32],
    step: &mut Step<'_, R>,
) -> bool {
    let mut combinations: Vec<Vec<Results>> = vec![Vec::new()];
    for (i, results) in guard.iter().enumerate() {
        let each: Vec<Results> = if i == at { vec![results.only(more)] } else { results.each().collect() };
        let with = |combination: &Vec<Results>| {
            let combination = combination.clone();
            each.clone().into_iter().map(move |result| [combination.clone(), vec![result]].concat())
        };
        combinations = combinations.iter().flat_map(with).collect();
        if combinations.len() > MOST_COMBINED {
            return false;
        }
    }
    combinations.into_iter().all(|combination| {
        let bounds = Bounds::of(least, combination.into_iter().flat_map(Results::facts));
        if !bounds.is_possible() {
            return true;
        }
        let Ok(other) = trace(&bounds.least_numbers(), step) else { return false };
        // It holds for all numbers within these bounds, if the bounds decide every comparison.
        let is_decided = |comparison: &Comparison| {
            Results::of(*comparison).facts().into_iter().all(|(what, holds)| bounds.decide(what) == Some(holds))
        };
        let is_same = |(a, b): (&Above, &Above)| bounds.is_exactly(a.slot, b.slot, b.by - a.by);
        other.result == known.result
            && other.made.len() == known.made.len()
            && other.comparisons.iter().all(is_decided)
            && std::iter::zip(&known.made, &other.made).all(is_same)
    })
}

/// Executes a step with numbers far apart for which its comparisons have the same results as with the actual numbers.
fn trace<R: PartialEq>(actual: &[i32], step: &mut Step<'_, R>) -> Result<Trace<R>, Refused> {
    let mut groups = Groups { of: (0..actual.len()).collect(), actual, order: Vec::new(), exact: Vec::new() };
    for _ in 0..MOST_EXECUTED {
        let Some(spread) = groups.spread() else { continue };
        let (ran, compared) = ticket_comparisons(|| step(&spread.numbers));
        let mut comparisons = groups.exact.clone();
        let is_as_actual = compared.into_iter().all(|(a, b)| {
            let [(a, x), (b, y)] = [a, b].map(|ticket| (ticket.to_word(), spread.above(ticket.to_word(), &groups)));
            let result = (actual[x.slot] + x.by).cmp(&(actual[y.slot] + y.by));
            let comparison = Comparison::new(x.slot, y.slot, y.by - x.by, result);
            if x.slot == y.slot || comparisons.contains(&comparison) {
                return true;
            }
            if a.cmp(&b) == result {
                comparisons.push(comparison);
                return true;
            }
            groups.put_in_order(comparison);
            false
        });
        if is_as_actual {
            let (result, made) = ran?;
            let made: Vec<Above> = made.into_iter().map(|number| spread.above(number, &groups)).collect();
            for by in OTHERWISE {
                let (again, others) = step(&spread.raised(by, &groups).collect::<Vec<u64>>())?;
                let is_raised = |(above, number): (&Above, u64)| {
                    let raised = if groups.of[above.slot] == 0 { 0 } else { by };
                    number == spread.numbers[above.slot] + above.by as u64 + raised
                };
                if again != result || others.len() != made.len() || !std::iter::zip(&made, others).all(is_raised) {
                    return Err(Refused::Arithmetic);
                }
            }
            return Ok(Trace { comparisons, result, made });
        }
    }
    Err(Refused::Arithmetic)
}

/// Numbers, in groups of those that are at their actual distances. The groups are far apart.
struct Groups<'a> {
    /// For each number the first one of its group.
    of: Vec<usize>,
    actual: &'a [i32],
    /// Pairs of numbers of which the group of the first is below that of the second.
    order: Vec<(usize, usize)>,
    /// The distances within groups that matter.
    exact: Vec<Comparison>,
}

/// Numbers for the groups.
struct Spread {
    /// The groups in their order, each with its smallest actual number.
    groups: Vec<(usize, i32)>,
    numbers: Vec<u64>,
}

impl Groups<'_> {
    /// Numbers far apart, in their actual order as far as another one is not asked for. If the orders asked for contradict each
    /// other, none; then two groups have become one.
    fn spread(&mut self) -> Option<Spread> {
        let mut left: Vec<usize> = (0..self.of.len()).filter(|&slot| self.of[slot] == slot).collect();
        left.sort_by_key(|&group| (group != 0, self.actual[group], group));
        let mut groups = Vec::new();
        let mut numbers = vec![0; self.of.len()];
        while !left.is_empty() {
            let waits = |lower: usize, upper: usize, group| {
                self.of[upper] == group && self.of[lower] != group && left.contains(&self.of[lower])
            };
            let is_next = |group: &usize| !self.order.iter().any(|&(lower, upper)| waits(lower, upper, *group));
            let Some(at) = left.iter().position(is_next) else {
                let are_left = |&&(lower, upper): &&(usize, usize)| waits(lower, upper, self.of[upper]);
                let &(lower, upper) = self.order.iter().find(are_left)?;
                self.join(lower, upper);
                return None;
            };
            let group = left.remove(at);
            let members: Vec<usize> = (0..self.of.len()).filter(|&slot| self.of[slot] == group).collect();
            let zero = (group == 0).then_some(0);
            let smallest = zero.or_else(|| members.iter().map(|&slot| self.actual[slot]).min()).unwrap_or(0);
            for slot in members {
                numbers[slot] = groups.len() as u64 * APART + u64::from((self.actual[slot] - smallest).unsigned_abs());
            }
            groups.push((group, smallest));
        }
        Some(Spread { groups, numbers })
    }

    /// Has the comparison come out like this from now on.
    fn put_in_order(&mut self, Comparison { x, y, result, .. }: Comparison) {
        match result {
            Ordering::Less if self.of[y] != 0 => self.order.push((x, y)),
            Ordering::Greater if self.of[x] != 0 => self.order.push((y, x)),
            // Nothing is below the group of zero.
            _ => self.join(x, y),
        }
    }

    /// Puts two numbers at their actual distance.
    fn join(&mut self, x: usize, y: usize) {
        self.exact.push(Comparison::new(x, y, self.actual[x] - self.actual[y], Ordering::Equal));
        let [first, second] = [self.of[x].min(self.of[y]), self.of[x].max(self.of[y])];
        self.of.iter_mut().filter(|group| **group == second).for_each(|group| *group = first);
    }
}

impl Spread {
    /// Larger numbers, in the same order and at the same distances, but for those that are at their actual distance from zero.
    fn raised(&self, by: u64, groups: &Groups<'_>) -> impl Iterator<Item = u64> {
        std::iter::zip(&self.numbers, &groups.of).map(move |(number, &group)| number + if group == 0 { 0 } else { by })
    }

    /// What a number is: the largest of its group that it can be above.
    fn above(&self, number: u64, groups: &Groups<'_>) -> Above {
        let (group, smallest) = self.groups[((number / APART) as usize).min(self.groups.len() - 1)];
        let distance = (number % APART) as i32;
        let below = |&slot: &usize| groups.of[slot] == group && groups.actual[slot] - smallest <= distance;
        let nearest = (0..groups.of.len()).filter(below).max_by_key(|&slot| (groups.actual[slot], Reverse(slot)));
        let slot = nearest.unwrap_or(group);
        Above { slot, by: distance - (groups.actual[slot] - smallest) }
    }
}

#[cfg(test)]
mod tests {
    use doorway_memory::Ticket;

    use super::*;

    fn ticket(number: u64) -> Ticket {
        Ticket::of_word(number)
    }

    fn at_most(x: usize, y: usize, c: i32) -> AtMost {
        AtMost { x, y, c }
    }

    #[test]
    fn the_guard_has_what_a_comparison_tells_and_no_more() {
        let mut is_less = |numbers: &[u64]| Ok((ticket(numbers[1]) < ticket(numbers[2]), Vec::new()));
        let executed = execute(&[0, 3, 3], &[0; 3], &mut is_less).expect("it only compares");
        assert_eq!((executed.guard, executed.result), (vec![(at_most(1, 2, -1), false)], false));
        let executed = execute(&[0, 2, 3], &[0; 3], &mut is_less).expect("it only compares");
        assert_eq!((executed.guard, executed.result), (vec![(at_most(1, 2, -1), true)], true));
    }

    #[test]
    fn the_largest_of_equal_tickets_is_either() {
        let mut next = |numbers: &[u64]| {
            let largest = numbers[1..].iter().map(|&number| ticket(number)).max();
            Ok(((), vec![largest.map_or(0, |ticket| ticket.next().to_word())]))
        };
        let Executed { guard, made, .. } = execute(&[0, 5, 5, 1], &[0; 4], &mut next).expect("it only compares");
        assert_eq!(guard.len(), 2, "one ticket is at least each of the others: {guard:?}");
        let numbers = [[0, 5, 5, 1], [0, 7, 7, 7]];
        let largest = numbers.map(|numbers| guard.iter().all(|(what, holds)| what.holds(&numbers) == *holds));
        assert_eq!((largest, made[0].by), ([true; 2], 1));
    }

    #[test]
    fn distances_that_matter_are_found() {
        let mut is_next = |numbers: &[u64]| Ok((ticket(numbers[1]).next() == ticket(numbers[2]), Vec::new()));
        let executed = execute(&[0, 4, 5], &[0; 3], &mut is_next).expect("it only compares");
        assert_eq!(
            (executed.guard, executed.result),
            (vec![(at_most(1, 2, -1), true), (at_most(1, 2, -2), false)], true)
        );
        let far = execute(&[0, 4, 9], &[0; 3], &mut is_next).expect("it only compares");
        assert_eq!((far.guard, far.result), (vec![(at_most(1, 2, -2), true)], false));
    }

    #[test]
    fn arithmetic_is_refused() {
        let mut half = |numbers: &[u64]| Ok(((), vec![numbers[1] / 2]));
        assert!(execute(&[0, 4], &[0; 2], &mut half).is_err());
        let mut is_third = |numbers: &[u64]| Ok((numbers[1].is_multiple_of(3), Vec::new()));
        assert!((0..6).all(|number| execute(&[0, number], &[0; 2], &mut is_third).is_err()));
    }
}
