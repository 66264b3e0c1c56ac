"""Locks of the catalogue, written in Python after the same texts."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from fairdoorway import (
    Access,
    Count,
    Loop,
    Space,
    Ticket,
    Turn,
    again,
    all_of,
    done,
    each_but,
    fence,
    fetch_add,
    fold,
    read,
    spin,
    test,
    turns,
    until,
    update,
    write,
)

Section = Generator[Access | Loop, Any, Any]


def down(up: bool) -> bool:
    return not up


class Peterson:
    """Herlihy & Shavit, Fig. 2.6."""

    def __init__(self, space: Space) -> None:
        self.flag = space.per_process("flag", 2, False)
        self.victim = space.shared("victim", 0)

    def doorway(self, p: int) -> Section:
        yield write(self.flag[p], True, line=8)
        yield write(self.victim, p, line=9)
        yield fence(line=9)

    def wait(self, p: int, place: None) -> Section:
        def free() -> Section:
            other_is_down = yield test(self.flag[1 - p], down, line=10)
            return other_is_down or (yield test(self.victim, lambda victim: victim != p, line=10))

        yield spin(free)

    def exit(self, p: int, inside: None) -> Section:
        yield write(self.flag[p], False, line=14)


class Bakery:
    """Danek 2010, Fig. 1."""

    def __init__(self, space: Space, n: int) -> None:
        self.n = n
        self.choosing = space.per_process("choosing", n, False)
        self.number = space.per_process("number", n, Ticket.ZERO)

    def doorway(self, p: int) -> Section:
        yield write(self.choosing[p], True, line=3)
        yield fence(line=3)

        def larger(largest: Ticket, i: int) -> Section:
            return max(largest, (yield read(self.number[i], line=4)))

        largest = yield fold(self.n, Ticket.ZERO, larger)
        yield write(self.number[p], largest.next(), line=4)
        yield write(self.choosing[p], False, line=5)
        yield fence(line=5)
        return largest.next()

    def wait(self, p: int, mine: Ticket) -> Section:
        def pass_by(i: int) -> Section:
            yield until(self.choosing[i], down, line=7)
            yield until(self.number[i], lambda number: number == Ticket.ZERO or (number, i) >= (mine, p), line=8)

        yield each_but(p, self.n, pass_by)

    def exit(self, p: int, inside: None) -> Section:
        yield write(self.number[p], Ticket.ZERO, line=10)


class OneBit:
    """Herlihy & Shavit, Fig. 2.21."""

    def __init__(self, space: Space, n: int) -> None:
        self.flag = space.per_process("flag", n, False)

    def doorway(self, i: int) -> Section:
        yield write(self.flag[i], True, line=9)
        yield fence(line=9)

    def wait(self, i: int, place: None) -> Section:
        def lower(j: int) -> Section:
            if (yield test(self.flag[j], down, line=11)):
                return True
            yield write(self.flag[i], False, line=12)
            yield until(self.flag[j], down, line=13)
            return False

        def attempt(state: None) -> Generator[Access | Loop, Any, Turn]:
            if (yield all_of(i, lower)):
                return done()
            yield write(self.flag[i], True, line=9)
            yield fence(line=9)
            return again()

        yield turns(None, attempt)
        higher = i + 1
        yield fold(len(self.flag) - higher, None, lambda _, j: until(self.flag[higher + j], down, line=19))

    def exit(self, i: int, inside: None) -> Section:
        yield write(self.flag[i], False, line=23)


class TicketLock:
    """Reed & Kanodia 1979."""

    def __init__(self, space: Space) -> None:
        self.entry = space.shared("Entry", Count.in_rounds_of(1))
        self.exit_ = space.shared("Exit", Count.in_rounds_of(1))

    def doorway(self, p: int) -> Section:
        return (yield fetch_add(self.entry, 1, line=1))

    def wait(self, p: int, ticket: Count) -> Section:
        yield until(self.exit_, lambda served: served == ticket, line=2)
        return ticket

    def exit(self, p: int, ticket: Count) -> Section:
        yield write(self.exit_, ticket.plus(1), line=3)


class LockOne:
    """Herlihy & Shavit, Fig. 2.4: deadlocks."""

    def __init__(self, space: Space) -> None:
        self.flag = space.per_process("flag", 2, False)

    def doorway(self, p: int) -> Section:
        yield write(self.flag[p], True, line=7)

    def wait(self, p: int, place: None) -> Section:
        yield until(self.flag[1 - p], down, line=8)

    def exit(self, p: int, inside: None) -> Section:
        yield write(self.flag[p], False, line=12)


class Spinlock:
    """Test-and-set, with recovery and aborts: a word with the holder, or None."""

    def __init__(self, space: Space) -> None:
        self.holder = space.shared("holder", None)

    def doorway(self, p: int) -> None:
        return None

    def wait(self, p: int, place: None) -> Section:
        def taken() -> Section:
            return (yield update(self.holder, lambda holder: p if holder is None else holder)) is None

        yield spin(taken)

    def exit(self, p: int, inside: None) -> Section:
        yield write(self.holder, None)

    def reap(self, dead: int) -> Section:
        yield update(self.holder, lambda holder: None if holder == dead else holder)

    def abort(self, p: int, place: None) -> Section:
        yield update(self.holder, lambda holder: None if holder == p else holder)
