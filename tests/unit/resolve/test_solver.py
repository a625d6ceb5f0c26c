"""The solver finds the least solution, in whatever order its sets are asked for."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from pkg.resolve.queries import Kept
from pkg.resolve.solver import MAX_DEPTH, MAX_ROUNDS, MAX_VALUES, Solver

OVERFLOW = frozenset({"many"})
System = list[tuple[frozenset[int], list[int]]]
"""For each set what it holds of itself, and the sets that it takes in besides."""

systems: st.SearchStrategy[System] = st.integers(1, 8).flatmap(
    lambda size: st.lists(
        st.tuples(st.frozensets(st.integers(0, 9), max_size=3), st.lists(st.integers(0, size - 1), max_size=4)),
        min_size=size,
        max_size=size,
    )
)

SET: Kept[[int]] = Kept("set")
ONE: Kept[[]] = Kept("one")
DEEP: Kept[[]] = Kept("deep")


def make_solver(system: System) -> Solver:
    solver = Solver(OVERFLOW)

    def read(place: int) -> frozenset[int]:
        own, others = system[place]
        return own.union(*(solver.get(SET, other) for other in others))

    solver.add_rule(SET, read)
    return solver


def solve(system: System, order: list[int]) -> list[frozenset[int]]:
    solver = make_solver(system)
    for place in order:
        solver.get(SET, place)
    solver.solve()
    return [solver.get(SET, place) for place in range(len(system))]


def reach(system: System, place: int) -> frozenset[int]:
    """Collect what all sets hold that one takes in, at any distance."""
    seen, waiting = {place}, [place]
    while waiting:
        for other in system[waiting.pop()][1]:
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return frozenset().union(*(system[each][0] for each in seen))


@given(systems)
def test_each_set_is_all_that_it_reaches(system: System) -> None:
    found = solve(system, list(range(len(system))))
    assert found == [reach(system, place) for place in range(len(system))]


@given(systems, st.randoms(use_true_random=False))
def test_the_order_of_questions_does_not_matter(system: System, random: Random) -> None:
    order = list(range(len(system)))
    random.shuffle(order)
    assert solve(system, order) == solve(system, sorted(order))


@given(systems, st.randoms(use_true_random=False))
def test_sets_that_are_renewed_stay_as_they_are(system: System, random: Random) -> None:
    solver = make_solver(system)
    for place in random.sample(range(len(system)), len(system)):
        solver.get(SET, place)
    solver.solve()
    before = [solver.get(SET, place) for place in range(len(system))]
    for place in range(len(system)):
        solver.renew(SET, place)
    solver.solve()
    assert [solver.get(SET, place) for place in range(len(system))] == before


def test_a_chain_that_is_deeper_than_the_bound_is_solved_to_its_end() -> None:
    length = 20 * MAX_DEPTH
    system: System = [(frozenset[int](), [place + 1]) for place in range(length)]
    assert solve([*system, (frozenset({7}), [])], [0])[0] == {7}


def test_depth_between_sets_counts_towards_the_bound() -> None:
    solver = Solver(OVERFLOW)
    seen: list[int] = []

    def read(place: int) -> frozenset[int]:
        seen.append(solver.depth)
        solver.depth += MAX_DEPTH
        try:
            return solver.get(SET, place + 1) if place < 3 else frozenset({place})
        finally:
            solver.depth -= MAX_DEPTH

    solver.add_rule(SET, read)
    solver.get(SET, 0)
    solver.solve()
    assert solver.get(SET, 0) == {3}
    assert set(seen) == {1}


def test_a_set_of_too_many_values_says_that_it_overflowed() -> None:
    solver = Solver(OVERFLOW)
    solver.add_rule(ONE, lambda: frozenset(range(MAX_VALUES + 1)))
    assert solver.get(ONE) == OVERFLOW


def test_a_set_that_never_stops_growing_is_given_up_and_counted() -> None:
    solver = Solver(OVERFLOW)
    solver.add_rule(ONE, lambda: frozenset({len(solver.get(ONE))}))
    solver.get(ONE)
    solver.solve()
    assert len(solver.get(ONE)) == MAX_ROUNDS
    assert solver.exhausted == 1


def test_a_set_whose_rule_goes_too_deep_is_given_up_and_counted() -> None:
    def dig(depth: int) -> frozenset[int]:
        return dig(depth + 1)

    solver = Solver(OVERFLOW)
    solver.add_rule(DEEP, lambda: dig(0))
    solver.add_rule(ONE, lambda: solver.get(DEEP) | {1})
    assert solver.get(ONE) == OVERFLOW | {1}
    assert (solver.exhausted, solver.depth, solver.current) == (1, 0, None)


def test_what_is_forgotten_is_computed_anew() -> None:
    solver = Solver(OVERFLOW)
    known = {1}
    solver.add_rule(ONE, lambda: frozenset(known))
    assert solver.get(ONE) == {1}
    known.add(2)
    solver.forget()
    assert solver.get(ONE) == {1, 2}
