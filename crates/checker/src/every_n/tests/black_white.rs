//! The black-white bakery is decided for every number of processes, and relatives of it that are wrong are not.
//!
//! Whether a relative is wrong, and for how many processes, is found by the ordinary search.
use doorway_algorithms::{
    Size,
    mutex::black_white_bakery::{self, Color},
};
use doorway_memory::{Exclusion, Memory, Pid, Space, Ticket, Value};

use super::{
    super::{Precision, Undecided, closed, every_n, kept::Kept},
    IN_ORDER,
    controls::{excludes, is_crowded},
    covering::{views_of_all_states_are_in_the_set, views_of_random_states_are_in_the_set, with_all_words_dead},
    holds,
};
use crate::Subject;

fn black_white(n: usize) -> Option<Subject> {
    Some(Subject::lock(move |space| black_white_bakery::new(space, Size { n, k: 1 })))
}

/// How a lock departs from the black-white bakery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Departure {
    /// It is the black-white bakery.
    None,
    /// Processes do not announce that they choose a number.
    NoChoosing,
    /// A process reads the color before it announces that it chooses a number.
    EarlyColor,
    /// A number is as large as the largest other one of its color, and not larger.
    NotLarger,
    /// Of two processes with the same number neither waits for the other.
    NoTieBreak,
    /// A process does not wait for processes of the other color.
    OtherColorIsIgnored,
    /// A process waits for those of the other color only if `color` is the other one.
    ColorIsInverted,
    /// A process changes the color from what it is, and not from its own.
    ColorIsToggled,
    /// A process gives its number back first, and changes the color then.
    ColorIsChangedLast,
    /// A process counts the others that it has waited for, and enters after so many.
    Counts(u8),
    /// A process does not look at processes beyond the third.
    FirstThree,
    /// A process does not wait for the one after it.
    NotTheNext,
}

/// The number of a pair.
trait Number: Value + Ord + 'static {
    const ZERO: Self;
    fn next(self) -> Self;
}

impl Number for Ticket {
    const ZERO: Ticket = Ticket::ZERO;
    fn next(self) -> Ticket {
        Ticket::next(self)
    }
}

/// A number that is never larger than `MOST`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct UpTo<const MOST: u8>(u8);

impl<const MOST: u8> Value for UpTo<MOST> {
    fn to_word(self) -> u64 {
        self.0.into()
    }
    fn of_word(word: u64) -> Self {
        UpTo(word as u8)
    }
}

impl<const MOST: u8> Number for UpTo<MOST> {
    const ZERO: Self = UpTo(0);
    fn next(self) -> Self {
        UpTo((self.0 + 1).min(MOST))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Pair<N> {
    color: Color,
    number: N,
}

impl<N: Number> Value for Pair<N> {
    fn to_word(self) -> u64 {
        self.number.to_word() << 1 | self.color.to_word()
    }
    fn of_word(word: u64) -> Self {
        Pair { color: Color::of_word(word & 1), number: N::of_word(word >> 1) }
    }
    fn map_tickets(self, f: &mut dyn FnMut(Ticket) -> Ticket) -> Self {
        Pair { number: self.number.map_tickets(f), ..self }
    }
}

fn other(color: Color) -> Color {
    if color == Color::White { Color::Black } else { Color::White }
}

struct BlackWhite<M: Memory, N: Number> {
    departure: Departure,
    choosing: Vec<M::Reg<bool>>,
    pair: Vec<M::Reg<Pair<N>>>,
    color: M::Reg<Color>,
}

impl<M: Memory, N: Number> BlackWhite<M, N> {
    fn new(space: &mut impl Space<Mem = M>, n: usize, departure: Departure) -> Self {
        BlackWhite {
            departure,
            choosing: space.per_process("choosing", n, false),
            pair: space.per_process("pair", n, Pair { color: Color::White, number: N::ZERO }),
            color: space.shared("color", Color::White),
        }
    }

    fn wait_for(&self, m: &mut M, j: Pid, i: Pid, mine: Pair<N>) -> Result<(), M::Halt> {
        let departure = self.departure;
        if departure != Departure::NoChoosing {
            m.at("5").until(&self.choosing[j], |choosing| !choosing)?;
        }
        if m.at("6").test(&self.pair[j], |pair| pair.color == mine.color)? {
            let has_ties = departure == Departure::NoTieBreak;
            return m.at("7").until(&self.pair[j], move |pair| {
                let is_later = mine.number < pair.number || mine.number == pair.number && (has_ties || i < j);
                pair.number == N::ZERO || is_later || pair.color != mine.color
            });
        }
        if departure == Departure::OtherColorIsIgnored {
            return Ok(());
        }
        let is_inverted = departure == Departure::ColorIsInverted;
        m.spin(|m| {
            Ok(m.at("8").test(&self.pair[j], |pair| pair.number == N::ZERO || pair.color == mine.color)?
                || m.at("8").test(&self.color, |color| (color != mine.color) != is_inverted)?)
        })
    }
}

impl<M: Memory, N: Number> Exclusion<M> for BlackWhite<M, N> {
    type Place = Pair<N>;
    type Inside = Pair<N>;

    fn doorway(&self, m: &mut M, i: Pid) -> Result<Pair<N>, M::Halt> {
        let is_early = self.departure == Departure::EarlyColor;
        let early = if is_early { m.at("2").read(&self.color)? } else { Color::White };
        m.at("1").write(&self.choosing[i], true)?;
        let color = if is_early { early } else { m.at("2").read(&self.color)? };
        let max = m.fold(self.pair.len(), N::ZERO, |m, max, j| {
            let pair = m.at("3").read(&self.pair[j])?;
            Ok(if pair.color == color { max.max(pair.number) } else { max })
        })?;
        let is_equal = self.departure == Departure::NotLarger && max > N::ZERO;
        let mine = Pair { color, number: if is_equal { max } else { max.next() } };
        m.at("3").write(&self.pair[i], mine)?;
        m.at("4").write(&self.choosing[i], false)?;
        Ok(mine)
    }

    fn wait(&self, m: &mut M, i: Pid, &mine: &Pair<N>) -> Result<Pair<N>, M::Halt> {
        let n = self.pair.len();
        match self.departure {
            Departure::Counts(most) => {
                let count = |m: &mut M, seen: u8, j: Pid| {
                    if j == i || seen == most {
                        return Ok(seen);
                    }
                    self.wait_for(m, j, i, mine)?;
                    Ok(seen + 1)
                };
                m.fold(n, 0, count)?;
            }
            Departure::FirstThree => m.each_but(i, n.min(3), |m, j| self.wait_for(m, j, i, mine))?,
            departure => m.each_but(i, n, |m, j| match departure {
                Departure::NotTheNext if j == i + 1 => Ok(()),
                _ => self.wait_for(m, j, i, mine),
            })?,
        }
        Ok(mine)
    }

    fn exit(&self, m: &mut M, i: Pid, mine: &Pair<N>) -> Result<(), M::Halt> {
        let left = Pair { number: N::ZERO, ..*mine };
        match self.departure {
            Departure::ColorIsChangedLast => {
                m.at("10").write(&self.pair[i], left)?;
                m.at("9").write(&self.color, other(mine.color))
            }
            departure => {
                let before =
                    if departure == Departure::ColorIsToggled { m.at("9").read(&self.color)? } else { mine.color };
                m.at("9").write(&self.color, other(before))?;
                m.at("10").write(&self.pair[i], left)
            }
        }
    }
}

fn black_white_with<N: Number>(departure: Departure) -> impl Fn(usize) -> Option<Subject> {
    move |n| Some(Subject::lock(move |space| BlackWhite::<_, N>::new(space, n, departure)))
}

/// Registers of few values: without tickets.
fn black_white_up_to<const MOST: u8>(n: usize) -> Option<Subject> {
    black_white_with::<UpTo<MOST>>(Departure::None)(n)
}

/// That with which the search decides in the end: with fewer registers, or if some are forgotten, views have two holders.
const PRECISION: Precision = Precision { m: 2, is_forgetful: false, kept: Kept::ALL };

#[test]
fn the_black_white_bakery_excludes_for_every_n() {
    let found = closed(&black_white, 1, PRECISION, false, &mut |_| true).unwrap();
    assert_eq!((found.views(), found.undecided), (81_346, None));
}

#[test]
#[ignore = "1 minute"]
fn the_black_white_bakery_serves_in_order_for_every_n() {
    for make in [&black_white as &dyn Fn(usize) -> Option<Subject>, &black_white_with::<Ticket>(Departure::None)] {
        holds(&every_n(1, make).unwrap(), [81_346, 109_324], &IN_ORDER);
    }
}

#[test]
#[ignore = "1 minute"]
fn views_of_states_of_the_black_white_bakery_are_in_the_set() {
    for observes in [false, true] {
        let found = closed(&black_white, 1, PRECISION, observes, &mut |_| true).unwrap();
        let mut views = found.views.unwrap();
        let states = views_of_all_states_are_in_the_set(&mut views, 2, 3);
        // As many as the ordinary search finds, see the algorithm's pinned facts; with the order of arrivals there are more.
        assert!(states == 193_496 || observes && states > 193_496, "{states}");
        for n in 4..=6 {
            views_of_random_states_are_in_the_set(&mut views, 2, n);
        }
    }
}

/// Words on which steps depend are not forgotten, even if they are all taken for dead at first.
#[test]
#[ignore = "1 minute"]
fn steps_of_the_black_white_bakery_that_depend_on_forgotten_words_are_noticed() {
    let mut views = with_all_words_dead(black_white);
    assert_eq!(views.close(200_000, &mut |_| true).unwrap(), None);
    views_of_all_states_are_in_the_set(&mut views, 2, 3);
}

/// Each is right for fewer processes, if there are two or more.
#[test]
fn a_black_white_bakery_that_is_wrong_is_not_decided() {
    for (departure, n) in [
        (Departure::NoChoosing, 2),
        (Departure::EarlyColor, 2),
        (Departure::NotLarger, 2),
        (Departure::NoTieBreak, 2),
        (Departure::OtherColorIsIgnored, 2),
        (Departure::ColorIsInverted, 2),
        (Departure::ColorIsToggled, 3),
        (Departure::ColorIsChangedLast, 3),
        (Departure::Counts(1), 3),
        (Departure::Counts(2), 4),
    ] {
        is_wrong_for(n, black_white_with::<Ticket>(departure));
        is_crowded(black_white_with::<Ticket>(departure));
    }
}

/// Processes take numbers from 1 to n. So a lock whose numbers end earlier is right for that number of processes, and wrong for more.
#[test]
fn a_black_white_bakery_with_too_few_numbers_is_not_decided() {
    is_wrong_for(2, black_white_up_to::<1>);
    is_wrong_for(3, black_white_up_to::<2>);
    is_crowded(black_white_up_to::<1>);
    is_crowded(black_white_up_to::<2>);
    is_crowded(black_white_up_to::<3>);
}

#[test]
#[ignore = "1 minute, 2 GB"]
fn a_black_white_bakery_with_three_numbers_is_wrong_for_four_processes() {
    is_wrong_for(4, black_white_up_to::<3>);
}

/// Right for three processes; what is wrong shows with more of them.
#[test]
fn a_black_white_bakery_that_uses_process_numbers_in_another_way_is_refused() {
    assert!(excludes(3, black_white_with::<Ticket>(Departure::FirstThree)));
    for departure in [Departure::FirstThree, Departure::NotTheNext] {
        let found = every_n(1, black_white_with::<Ticket>(departure)).unwrap();
        assert!(matches!(found.undecided, Some(Undecided::DoesNotApply(_))), "{departure:?}: {found:?}");
    }
}

/// Asserts that `n` is the smallest number of processes for which a lock does not exclude.
fn is_wrong_for(n: usize, make: impl Fn(usize) -> Option<Subject>) {
    for fewer in 2..n {
        assert!(excludes(fewer, &make), "{fewer} processes");
    }
    assert!(!excludes(n, &make), "{n} processes");
}
