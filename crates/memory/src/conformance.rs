//! The tests that every memory passes.
//!
//! A memory provides a [`Harness`] and calls [`all`], which tries every access, value type and loop with one process. The
//! checker and the stress tests look at several.
//!
//! ```
//! use doorway_memory::{Memory, Solo, Space, conformance::{self, Harness}};
//!
//! struct SoloHarness;
//! impl Harness for SoloHarness {
//!     type Space = Solo;
//!     fn complete<A, R: doorway_memory::Local>(
//!         &self,
//!         make: impl Fn(&mut Solo) -> A,
//!         body: impl Fn(&A, &mut Solo) -> Result<R, std::convert::Infallible>,
//!     ) -> R {
//!         let mut solo = Solo::new();
//!         let registers = make(&mut solo);
//!         let Ok(result) = body(&registers, &mut solo);
//!         result
//!     }
//! }
//! conformance::all(&SoloHarness);
//! ```
use alloc::{vec, vec::Vec};
use core::ops::ControlFlow::{Break, Continue};

use crate::{Claim, Linked, Local, Memory, Space, Ticket};

type Mem<H> = <<H as Harness>::Space as Space>::Mem;
type Halt<H> = <Mem<H> as Memory>::Halt;

/// Runs a body on a memory from beginning to end, however often the memory halts it on the way.
///
/// See the [module's example](self).
pub trait Harness {
    /// The source of the memory's registers.
    type Space: Space;

    /// Makes registers and runs `body` on them to its end.
    fn complete<A, R: Local>(
        &self,
        make: impl Fn(&mut Self::Space) -> A,
        body: impl Fn(&A, &mut Mem<Self>) -> Result<R, Halt<Self>>,
    ) -> R;
}

/// Every conformance test.
///
/// # Panics
/// If the memory under test does not conform.
///
/// See the [module's example](self).
pub fn all<H: Harness>(harness: &H) {
    a_register_holds_what_was_written(harness);
    read_modify_writes_return_the_previous_value(harness);
    a_store_conditional_fails_after_a_write(harness);
    every_type_survives_the_memory(harness);
    loops_carry_their_state_and_nothing_else(harness);
    nested_loops_resume_where_they_were(harness);
    a_fence_changes_nothing_for_a_single_process(harness);
    a_queue_keeps_the_order_of_arrival(harness);
    a_claim_takes_the_first_free_name_and_a_larger_token(harness);
}

fn a_register_holds_what_was_written<H: Harness>(harness: &H) {
    let seen = harness.complete(
        |space| (space.shared("x", 1_u64), space.shared("y", 2_u64)),
        |(x, y), m| {
            let first = m.read(x)?;
            m.write(x, 5)?;
            let tested = m.test(x, |x| x == 5)? && !m.test(y, |y| y == 5)?;
            Ok(vec![first, m.read(x)?, m.read(y)?, u64::from(tested)])
        },
    );
    assert_eq!(seen, [1, 5, 2, 1]);
}

fn read_modify_writes_return_the_previous_value<H: Harness>(harness: &H) {
    let seen = harness.complete(
        |space| (space.shared("x", 3_i64), space.shared("tail", None::<usize>)),
        |(x, tail), m| {
            let before = (m.fetch_add(x, -5)?, m.fetch_add(x, 1)?, m.read(x)?);
            let swapped = (m.swap(tail, Some(4))?, m.swap(tail, None)?, m.read(tail)?);
            let took = m.compare_swap(x, -1, 9)?;
            let missed = m.compare_swap(x, -1, 8)?;
            let compared = (took, missed, m.read(x)?);
            let updated = (m.update(x, |x| x * x - 1)?, m.update(x, |x| x)?, m.read(x)?);
            Ok((before, swapped, compared, updated))
        },
    );
    assert_eq!(seen, ((3, -2, -1), (None, Some(4), None), (true, false, 9), (9, 80, 80)));
}

fn a_store_conditional_fails_after_a_write<H: Harness>(harness: &H) {
    let seen = harness.complete(
        |space| (space.shared("x", Linked::new(7_u8)), space.shared("y", Linked::new(None::<usize>))),
        |(x, y), m| {
            let link = m.load_linked(x)?;
            let other = m.load_linked(y)?;
            let stored = m.store_conditional(x, link, link.value() + 1)?;
            let again = m.store_conditional(x, link, 20)?;
            let link = m.load_linked(x)?;
            let valid = (m.validate(x, link)?, m.validate(y, other)?);
            m.write_linked(x, 8)?; // what is there already
            let valid = (valid, m.validate(x, link)?);
            let overwritten = m.store_conditional(x, link, 30)?;
            let elsewhere = m.store_conditional(y, other, Some(4))?;
            Ok(((stored, again, overwritten, elsewhere), valid, m.read_linked(x)?, m.read_linked(y)?))
        },
    );
    assert_eq!(seen, ((true, false, false, true), ((true, true), false), 8, Some(4)));
}

fn every_type_survives_the_memory<H: Harness>(harness: &H) {
    let seen = harness.complete(
        |space| {
            (
                space.shared("bool", false),
                space.shared("i8", 0_i8),
                space.shared("ticket", Ticket::ZERO),
                space.shared("some", None::<Ticket>),
            )
        },
        |(flag, small, ticket, some), m| {
            m.write(flag, true)?;
            m.write(small, -7)?;
            m.write(ticket, Ticket::ZERO.next())?;
            m.write(some, Some(Ticket::ZERO))?;
            Ok((m.read(flag)?, m.read(small)?, m.read(ticket)?, m.read(some)?))
        },
    );
    assert_eq!(seen, (true, -7, Ticket::ZERO.next(), Some(Ticket::ZERO)));
}

fn loops_carry_their_state_and_nothing_else<H: Harness>(harness: &H) {
    let seen = harness.complete(
        |space| space.array("a", 4, 10_u64),
        |a, m| {
            let sum = m.fold(4, 0, |m, sum, i| {
                m.write(&a[i], i as u64)?;
                Ok(sum + m.read(&a[i])?)
            })?;
            m.spin(|m| Ok(m.fetch_add(&a[0], 1)? == 3))?;
            let all = m.all(4, |m, i| m.test(&a[i], |x| x < 4))?;
            let steps = m.turns((0_u64, vec![7_u64]), |m, (steps, mut trail)| {
                trail.push(m.read(&a[1])?);
                Ok(if steps == 2 { Break(trail) } else { Continue((steps + 1, trail)) })
            })?;
            Ok((sum, m.call(|m| m.read(&a[0]))?, all, steps))
        },
    );
    assert_eq!(seen, (6, 4, false, vec![7, 1, 1, 1]));
}

fn nested_loops_resume_where_they_were<H: Harness>(harness: &H) {
    let visits = harness.complete(
        |space| space.shared("x", 0_u64),
        |x, m| {
            m.fold(3, Vec::new(), |m, outer: Vec<u64>, i| {
                let inner = m.fold(i + 1, 0, |m, inner, j| {
                    m.spin(|m| Ok(m.fetch_add(x, 1)? % 2 == 1))?;
                    Ok(inner + 10 * i as u64 + j as u64)
                })?;
                Ok([outer, vec![inner]].concat())
            })
        },
    );
    assert_eq!(visits, [0, 21, 63]);
}

fn a_fence_changes_nothing_for_a_single_process<H: Harness>(harness: &H) {
    let seen = harness.complete(
        |space| (space.shared("x", 1_u64), space.shared("y", 2_u64)),
        |(x, y), m| {
            m.fence()?;
            m.write(x, 5)?;
            let own = m.read(x)?; // visible to others or not: to ourselves it is
            m.at("a").fence()?;
            let sum = m.fold(2, 0, |m, sum, _| {
                m.fence()?;
                m.fence()?;
                Ok(sum + m.fetch_add(y, 1)?)
            })?;
            m.fence()?;
            Ok(vec![own, m.read(x)?, m.read(y)?, sum])
        },
    );
    assert_eq!(seen, [5, 5, 4, 5]);
}

/// A memory in which this is not so does not return.
fn a_queue_keeps_the_order_of_arrival<H: Harness>(harness: &H) {
    harness.complete(
        |space| space.queue("Q", 4),
        |queue, m| {
            for p in [2, 0, 3, 1] {
                m.join(queue, p)?;
            }
            m.until_among(queue, 0, 2)?;
            m.leave(queue, 0)?;
            m.leave(queue, 0)?; // which is not there
            m.until_among(queue, 3, 2)?;
            m.leave(queue, 2)?;
            m.join(queue, 3)?; // which is there, and stays where it is
            m.until_among(queue, 3, 1)?;
            m.leave(queue, 3)?;
            m.until_among(queue, 1, 1)
        },
    );
}

fn a_claim_takes_the_first_free_name_and_a_larger_token<H: Harness>(harness: &H) {
    let (names, tokens) = harness.complete(
        |space| space.array("Name", 3, Claim::FREE),
        |names, m| {
            let (a, first) = m.claim(names, 5)?;
            let (b, _) = m.claim(names, 6)?;
            m.unclaim(&names[a], 6)?; // which does not have it
            let (c, _) = m.claim(names, 7)?;
            m.unclaim(&names[a], 5)?;
            let (d, later) = m.claim(names, 7)?;
            Ok((vec![a, b, c, d], (first, later)))
        },
    );
    assert_eq!(names, [0, 1, 2, 0]);
    assert!(tokens.1 > tokens.0);
}
