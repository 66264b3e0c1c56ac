//! Bounds on the differences of numbers.

/// "The number x is at most the number y plus c." Numbers are named by their positions in a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct AtMost<S = usize> {
    pub(super) x: S,
    pub(super) y: S,
    pub(super) c: i32,
}

impl AtMost {
    pub(super) fn holds(self, numbers: &[i32]) -> bool {
        numbers[self.x] <= numbers[self.y].saturating_add(self.c)
    }
}

/// No bound.
const NONE: i32 = i32::MAX / 4;

/// What is known of some numbers: bounds on their differences, closed under addition. The first number is zero, and each has a
/// least value.
#[derive(Clone)]
pub(super) struct Bounds {
    least: Vec<i32>,
    /// The numbers of which more is known than their least values.
    known: Vec<usize>,
    /// For each pair (a, b) how much larger a can be than b.
    above: Vec<i32>,
    is_possible: bool,
}

impl Bounds {
    /// Numbers of which nothing is known but their least values.
    pub(super) fn new(least: &[i32]) -> Bounds {
        let mut bounds = Bounds {
            least: least.to_vec(),
            known: vec![0],
            above: vec![NONE; least.len() * least.len()],
            is_possible: true,
        };
        bounds.above[0] = 0;
        bounds
    }

    pub(super) fn of(least: &[i32], facts: impl IntoIterator<Item = (AtMost, bool)>) -> Bounds {
        let mut bounds = Bounds::new(least);
        facts.into_iter().for_each(|(what, holds)| bounds.add(what, holds));
        bounds
    }

    pub(super) fn add(&mut self, AtMost { x, y, c }: AtMost, holds: bool) {
        if holds { self.tighten(x, y, c) } else { self.tighten(y, x, -c - 1) }
    }

    /// Whether what is known decides it.
    pub(super) fn decide(&self, AtMost { x, y, c }: AtMost) -> Option<bool> {
        match () {
            () if self.most_above(x, y) <= c => Some(true),
            () if self.most_above(y, x) < -c => Some(false),
            () => None,
        }
    }

    /// Whether the difference of x to y is known to be c.
    pub(super) fn is_exactly(&self, x: usize, y: usize, c: i32) -> bool {
        self.most_above(x, y) <= c && self.most_above(y, x) <= -c
    }

    /// Whether there are such numbers.
    pub(super) fn is_possible(&self) -> bool {
        self.is_possible
    }

    /// The least numbers that are possible.
    pub(super) fn least_numbers(&self) -> Vec<i32> {
        let mut numbers = self.least.clone();
        self.known.iter().for_each(|&a| numbers[a] = -self.above[a]);
        numbers
    }

    /// How much larger a can be than b.
    fn most_above(&self, a: usize, b: usize) -> i32 {
        match (a == b, self.known.contains(&a), self.known.contains(&b)) {
            (true, ..) => 0,
            (_, true, true) => self.above[a * self.least.len() + b],
            (_, true, false) => self.above[a * self.least.len()] - self.least[b],
            (_, false, _) => NONE,
        }
    }

    fn know(&mut self, a: usize) {
        if !self.known.contains(&a) {
            let len = self.least.len();
            self.known.push(a);
            self.above[a * len + a] = 0;
            self.tighten(0, a, -self.least[a]);
        }
    }

    /// The number a is at most b plus c.
    fn tighten(&mut self, a: usize, b: usize, c: i32) {
        self.know(a);
        self.know(b);
        let len = self.least.len();
        if self.above[a * len + b] <= c {
            return;
        }
        self.is_possible &= self.above[b * len + a] == NONE || c + self.above[b * len + a] >= 0;
        for &from in &self.known {
            for &to in &self.known {
                let [before, after] = [self.above[from * len + a], self.above[b * len + to]];
                if before < NONE && after < NONE {
                    let entry = &mut self.above[from * len + to];
                    *entry = (*entry).min(before + c + after);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at_most(x: usize, y: usize, c: i32) -> AtMost {
        AtMost { x, y, c }
    }

    #[test]
    fn bounds_add_up() {
        let mut bounds = Bounds::new(&[0, 0, 0, 0]);
        assert_eq!(bounds.decide(at_most(0, 2, 0)), Some(true), "no number is below zero");
        assert_eq!(bounds.decide(at_most(1, 2, 5)), None);
        bounds.add(at_most(1, 2, -1), true);
        bounds.add(at_most(3, 2, 1), false);
        assert_eq!(bounds.decide(at_most(1, 3, -3)), Some(true));
        assert_eq!(bounds.decide(at_most(3, 1, 2)), Some(false));
        assert_eq!(bounds.decide(at_most(1, 3, -4)), None);
        assert_eq!(bounds.least_numbers(), [0, 0, 1, 3]);
        assert!(bounds.is_possible());
        bounds.add(at_most(3, 1, 2), true);
        assert!(!bounds.is_possible());
    }

    #[test]
    fn exact_differences_are_known_from_both_sides() {
        let facts = [(at_most(1, 2, 3), true), (at_most(1, 2, 2), false)];
        let bounds = Bounds::of(&[0, 1, 1], facts);
        assert!(bounds.is_exactly(1, 2, 3) && bounds.is_exactly(2, 1, -3) && !bounds.is_exactly(1, 2, 2));
        assert_eq!(bounds.least_numbers(), [0, 4, 1]);
        assert!(facts.iter().all(|(what, holds)| what.holds(&bounds.least_numbers()) == *holds));
    }
}
