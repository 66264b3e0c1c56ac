"""The checker: algorithms of the catalogue by name, locks written in Python, and what these may not do."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
import xml.etree.ElementTree
from collections.abc import Callable
from typing import Any

import pytest
from fairdoorway import (
    CheckError,
    Count,
    Execution,
    ModelError,
    Register,
    Report,
    Space,
    Ticket,
    algorithms,
    check,
    read,
    survey,
    turns,
    update,
    write,
)

import locks
from conftest import Child


def facts(report: Report) -> dict[str, Any]:
    """What two checks of the same algorithm have in common, whoever wrote it."""
    found = report.as_dict()
    return {key: found[key] for key in ("n", "k", "states", "transitions", "depth", "complete", "properties")}


def test_peterson_is_as_claimed() -> None:
    report = check("peterson")
    assert (report.algorithm, report.n, report.k, report.states) == ("peterson", 2, 1, 32)
    assert report.as_claimed and report.complete and report.reason is None
    assert report.holds("exclusion") and report.verdicts["fcfs"] == "holds"
    assert report["bypass"].bound == 0
    assert str(report).startswith("peterson n=2 k=1: exclusion, deadlock-freedom, ")
    assert report.primitives == ["read", "write"]


def test_k_bakery_is_checked_with_deaths() -> None:
    report = check("k-bakery", n=3, k=2, deaths=True, passages=1)
    assert report.states == 124_241 and report.reason == "each process makes at most 1 passage"
    assert report.verdicts["exclusion"] == "holds"


def test_a_counterexample_is_an_object_a_text_and_a_picture() -> None:
    finding = check("lock-one")["deadlock-freedom"]
    assert finding.verdict == "fails" and str(finding) == "deadlock-freedom FAILS in 2 steps, and stays so"
    execution = finding.execution
    assert isinstance(execution, Execution) and len(execution) == 4 and execution.cycle_at == 2
    assert [(step.process, step.line, step.access) for step in execution.steps][:2] == [
        (0, "7", "flag[0] := true"),
        (1, "7", "flag[1] := true"),
    ]
    assert execution.steps[2].reads and execution.steps[2].seen == 1
    assert str(execution).splitlines()[2:4] == ["  then for ever", "   3  p0  8  flag[1] = true"]
    picture = execution.svg("a deadlock")
    assert picture == execution._repr_svg_().replace("lock-one: deadlock-freedom fails", "a deadlock")
    assert xml.etree.ElementTree.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"


def test_the_options_are_those_of_the_command() -> None:
    assert check("peterson", memory="tso").states == 126
    assert check("peterson", memory="tso", fences=False, properties=["exclusion"]).fails("exclusion")
    assert check("bakery", n=2, registers="safe").states == 817
    assert list(check("bakery", properties=["fcfs"]).findings) == ["fcfs"]
    assert check("k-bakery", n=2, deaths=True, aborts=True, merge=True).states == 639
    assert check("peterson", crashes=1).fails("starvation-freedom")
    assert not check("bakery", max_states=100).complete
    with pytest.raises(KeyError, match="was not checked"):
        check("bakery", properties=["fcfs"])["exclusion"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lock": "petersen"}, "did you mean `peterson`"),
        ({"lock": "peterson", "n": 3}, "`peterson` is for 2 processes, not 3"),
        ({"lock": "bakery", "n": 0}, "at least 2 processes"),
        ({"lock": "bakery", "n": 100}, "n is from 1 to 10"),
        ({"lock": "k-bakery", "k": 0}, "k"),
        ({"lock": "bakery", "deaths": True}, "has no recovery"),
        ({"lock": "bakery", "aborts": True}, "is not abortable"),
        ({"lock": "bakery", "memory": "arm"}, '`memory` is "sc" or "tso"'),
        ({"lock": "bakery", "registers": "regular"}, '`registers` is "atomic" or "safe"'),
        ({"lock": "bakery", "fences": False}, "fences do nothing"),
        ({"lock": "bakery", "properties": ["speed"]}, "no property is called `speed`"),
        ({"lock": "bakery", "properties": ["assignment"]}, "is not a property of this algorithm"),
        ({"lock": "bakery", "passages": 0}, "at least 1"),
        ({"lock": "bakery", "merge": True, "forget": True}, "not merged with forgetting"),
        ({"lock": locks.Peterson, "n": 11}, "n is from 1 to 10"),
        ({"lock": locks.Peterson, "deaths": True}, "recovery"),
    ],
)
def test_checks_that_are_not_possible_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        check(**arguments)
    assert issubclass(ModelError, ValueError)


@pytest.mark.parametrize(
    "arguments",
    [
        {"lock": 3},
        {"lock": None},
        {"lock": "bakery", "n": "3"},
        {"lock": "bakery", "properties": "fcfs"},
        {"lock": "bakery", "deaths": "yes"},
    ],
)
def test_arguments_have_types(arguments: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        check(**arguments)


def test_a_survey_is_rows_of_a_table() -> None:
    rows = survey(["mcs", "lock-one"])
    assert [row["algorithm"] for row in rows] == ["mcs", "lock-one"]
    assert rows[0].keys() == rows[1].keys()
    assert (rows[0]["states"], rows[0]["rmr_cc"], rows[0]["rmr_dsm"], rows[0]["tso"]) == (824, "8", "4", "yes")
    assert rows[1]["deadlock-freedom"] == "fails" and rows[1]["as_claimed"]
    assert all(isinstance(cell, (str, int, float, bool, type(None))) for row in rows for cell in row.values())


def test_algorithms_lists_the_catalogue() -> None:
    listed = {row["name"]: row for row in algorithms()}
    assert listed["bakery"]["kind"] == "mutex" and listed["k-bakery"]["kind"] == "k-exclusion"


@pytest.mark.parametrize(
    ("written", "name", "options"),
    [
        (locks.Peterson, "peterson", {}),
        (locks.Peterson, "peterson", {"memory": "tso"}),
        (locks.Peterson, "peterson", {"memory": "tso", "fences": False}),
        (locks.Peterson, "peterson", {"crashes": 1}),
        (locks.Bakery, "bakery", {"n": 2}),
        (locks.Bakery, "bakery", {"n": 3}),
        (locks.Bakery, "bakery", {"n": 2, "registers": "safe"}),
        (locks.OneBit, "one-bit", {"n": 2}),
        (locks.OneBit, "one-bit", {"n": 4}),
        (locks.OneBit, "one-bit", {"n": 3, "memory": "tso"}),
        (locks.TicketLock, "ticket", {"n": 3}),
        (locks.LockOne, "lock-one", {"n": 2}),
    ],
)
def test_a_lock_written_in_python_has_the_verdicts_states_and_traces_of_rust(
    written: Callable[..., Any], name: str, options: dict[str, Any]
) -> None:
    ours, theirs = check(written, **options), check(name, **options)
    assert facts(ours) == facts(theirs)
    assert ours.algorithm == written.__name__
    for property, finding in theirs.findings.items():
        assert str(ours[property]) == str(finding)
        assert str(ours[property].execution) == str(finding.execution)


def test_recovery_and_aborts_are_announced_by_their_methods() -> None:
    assert check(locks.Spinlock, n=3).verdicts["starvation-freedom"] == "fails"
    for options in ({"deaths": True}, {"aborts": True}, {"deaths": True, "aborts": True}):
        report = check(locks.Spinlock, n=2, **options)
        assert report.holds("exclusion") and report.holds("deadlock-freedom") and report.complete


def test_lines_without_a_name_are_those_of_the_source() -> None:
    execution = check(locks.Spinlock, n=2)["starvation-freedom"].execution
    assert execution is not None
    assert all(step.line.startswith("locks.py:") for step in execution.steps)


def test_a_factory_can_be_any_callable() -> None:
    assert check(lambda space: locks.Bakery(space, 2)).states == check("bakery", n=2).states


class Base:
    """Two processes that do nothing much; the mistakes are made in subclasses."""

    def __init__(self, space: Space) -> None:
        self.x = space.shared("x", 0)
        self.turn = space.shared("turn", False)

    def doorway(self, p: int) -> Any:
        yield write(self.x, p, line=1)

    def wait(self, p: int, place: Any) -> Any:
        yield read(self.x, line=2)

    def exit(self, p: int, inside: Any) -> Any:
        yield write(self.x, 0, line=3)


class Raises(Base):
    def wait(self, p: int, place: Any) -> Any:
        if (yield read(self.x, line=2)) == 1:
            raise LookupError("no such thing")


class RaisesInCondition(Base):
    def wait(self, p: int, place: Any) -> Any:
        yield update(self.x, lambda x: x // 0, line=2)


class NeverYields(Base):
    def wait(self, p: int, place: Any) -> Any:
        while True:
            pass
        yield


class NeverYieldsStubbornly(Base):
    def wait(self, p: int, place: Any) -> Any:
        while True:
            try:
                time.sleep(0.001)
            except Exception:
                pass
        yield


class Tosses(Base):
    def wait(self, p: int, place: Any) -> Any:
        yield write(self.x, random.randrange(50), line=2)


class Remembers(Base):
    passages = 0

    def wait(self, p: int, place: Any) -> Any:
        self.passages = 1 - self.passages
        yield write(self.x, self.passages, line=2)


class LoopsByItself(Base):
    def doorway(self, p: int) -> Any:
        yield write(self.turn, True, line=1)

    def wait(self, p: int, place: Any) -> Any:
        while (yield read(self.turn, line=2)):
            pass


class TurnsIdly(Base):
    def wait(self, p: int, place: Any) -> Any:
        from fairdoorway import again

        yield turns(None, lambda state: again())


class GoesOnAfterItsHalt(Base):
    def wait(self, p: int, place: Any) -> Any:
        try:
            yield read(self.x, line=2)
        except GeneratorExit:
            yield read(self.x, line=2)


class YieldsNonsense(Base):
    def wait(self, p: int, place: Any) -> Any:
        yield 42


class YieldsGenerator(Base):
    def wait(self, p: int, place: Any) -> Any:
        yield self.doorway(p)


class WritesWrongType(Base):
    def wait(self, p: int, place: Any) -> Any:
        yield write(self.x, True, line=2)


class WritesHugeNumber(Base):
    def wait(self, p: int, place: Any) -> Any:
        yield write(self.x, 2**64, line=2)


class ReturnsObject(Base):
    def doorway(self, p: int) -> Any:
        yield write(self.x, p, line=1)
        return object()


class ForgetsAgain(Base):
    def wait(self, p: int, place: Any) -> Any:
        yield turns(None, lambda state: read(self.x))


KEPT: list[Register] = []


class KeepsRegister(Base):
    def __init__(self, space: Space) -> None:
        super().__init__(space)
        KEPT.append(self.x)


class UsesForeignRegister(Base):
    def __init__(self, space: Space) -> None:
        super().__init__(space)
        assert KEPT or check(KeepsRegister)

    def wait(self, p: int, place: Any) -> Any:
        yield read(KEPT[0], line=2)


class AsksForDistance(Base):
    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.number = space.shared("number", Ticket.ZERO)

    def wait(self, p: int, place: Any) -> Any:
        ticket = yield read(self.number, line=2)
        # Depends on the number itself, which a ticket does not show but for its text.
        yield write(self.number, ticket.next() if len(repr(ticket)) < 10 else Ticket.ZERO, line=2)


@pytest.mark.parametrize(
    ("lock", "message", "cause"),
    [
        (Raises, r"process \d in `wait`, line 2, raised LookupError: no such thing", LookupError),
        (RaisesInCondition, "raised ZeroDivisionError", ZeroDivisionError),
        (NeverYields, "yielded nothing for 0.5 s", None),
        (NeverYieldsStubbornly, "yielded nothing for 0.5 s", None),
        (Tosses, "did something else when it was run again", None),
        (Remembers, "did something else when it was run again", None),
        (LoopsByItself, "made more than 100 accesses outside `turns`", None),
        (TurnsIdly, "took 1000000 turns without an access", None),
        (GoesOnAfterItsHalt, "raised RuntimeError: generator ignored GeneratorExit", RuntimeError),
        (YieldsNonsense, "raised TypeError: a section yields accesses and loops, not int", TypeError),
        (YieldsGenerator, "use `yield from` for a generator", TypeError),
        (WritesWrongType, "raised TypeError: `x` holds an int, not True", TypeError),
        (WritesHugeNumber, "raised OverflowError: .* takes more than 64 bits", OverflowError),
        (ReturnsObject, "raised TypeError: a process can carry None, bool, int, Ticket, Count and tuples", TypeError),
        (ForgetsAgain, r"the body of `turns` returns `again\(state\)` or `done\(result\)`", TypeError),
        (UsesForeignRegister, "accessed a register of another space", None),
        (AsksForDistance, "depends on more than the order of its tickets", None),
    ],
)
def test_a_lock_that_breaks_a_rule_is_reported(lock: type[Base], message: str, cause: type[BaseException] | None) -> None:
    with pytest.raises(CheckError, match=message) as caught:
        check(lock, patience=0.5, max_states=10_000_000)
    error = caught.value
    assert error.process in (0, 1) and error.section in ("doorway", "wait", "exit")
    assert type(error.__cause__) is (cause or type(None))
    # The checker is as good as before.
    assert check("peterson").states == 32


def test_an_error_has_the_execution_that_leads_to_it() -> None:
    with pytest.raises(CheckError) as caught:
        check(Raises)
    assert isinstance(caught.value.execution, Execution)
    assert "p1  1  x := 1" in str(caught.value)


@pytest.mark.parametrize(
    "make", [lambda space: None, lambda space: object(), type("NoExit", (), {"__init__": lambda self, space: None, "doorway": 1, "wait": 2})]
)
def test_a_lock_without_sections_is_a_type_error(make: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match="a lock has the methods"):
        check(make)


def test_a_constructor_that_raises_raises() -> None:
    def make(space: Space) -> None:
        raise LookupError("no such lock")

    with pytest.raises(LookupError, match="no such lock"):
        check(make)
    with pytest.raises(TypeError, match="can hold a bool, an int, None, a Ticket or a Count"):
        check(lambda space: space.shared("x", (1, 2)))


def test_tickets_and_counts_can_only_be_compared() -> None:
    assert Ticket.ZERO < Ticket.ZERO.next() and Ticket.ZERO == Ticket.ZERO
    with pytest.raises(TypeError):
        Ticket.ZERO < 3  # type: ignore[operator]
    with pytest.raises(TypeError):
        int(Ticket.ZERO)  # type: ignore[call-overload]
    assert Count.in_rounds_of(3).plus(4).slot == 1
    with pytest.raises(ValueError, match="a round has from 1"):
        Count.in_rounds_of(0)


def test_ctrl_c_ends_a_check(child: Callable[..., Child]) -> None:
    script = """
        import signal
        from fairdoorway import check
        {lock}
        print("ready", flush=True)
        try:
            check({name}, patience=1000)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    endless = """
        class Endless:
            def __init__(self, space): pass
            def doorway(self, p):
                while True: pass
            wait = exit = doorway
        """
    for lock, name in (("", '"kim-anderson"'), (endless, "Endless")):
        checking = child(script.format(lock=lock, name=name))
        assert checking.line() == "ready"
        os.kill(checking.pid, signal.SIGINT)
        assert checking.line() in ("interrupted", "")  # "" if it came before `try`
        assert checking.ends() in (0, 1, -signal.SIGINT)


def test_checks_run_without_the_gil_and_in_several_threads() -> None:
    states: list[int] = []
    threads = [threading.Thread(target=lambda: states.append(check("bakery", n=3).states)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert states == [12_173] * 3
