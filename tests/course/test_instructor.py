"""Instructors' versions of all chapters: solutions with their outputs, and notes on every exercise."""

import nbformat
import pytest


@pytest.mark.full
def test_every_solution_is_there_with_its_outputs(chapter, instructor):
    nbformat.validate(instructor)
    made = {cell.id: cell for cell in instructor.cells}
    solutions = [placed.cell for placed in chapter.cells if placed.is_solution and placed.cell.cell_type == "code"]
    assert len(solutions) >= len(chapter.assigned)
    for cell in solutions:
        assert made[cell.id].source == cell.source
        assert made[cell.id].outputs == cell.outputs
        assert made[cell.id].metadata == {}  # nothing is folded away
    passed = [cell for cell in solutions if "passed" in str(cell.outputs)]
    assert len(passed) >= len(chapter.assigned)


def test_notes_follow_every_solution(chapter, instructor):
    made = {cell.id: (place, cell) for place, cell in enumerate(instructor.cells)}
    order = []
    for one in chapter.assigned:
        notes, (place, cell) = one.exercise.notes, made[f"notes-{one.exercise.id}"]
        order.append(place)
        assert f"*{notes.points} point" in cell.source
        assert f"about {notes.minutes} minute" in cell.source
        for text in (notes.teaches, notes.hint, *notes.looks_for):
            assert text in cell.source
        for mistake in notes.mistakes:
            assert mistake.says in cell.source
            assert mistake.code.strip() in cell.source
        assert cell.source.count(f"✗ {one.exercise.title}: ") == len(notes.mistakes)
        assert "hint: " not in cell.source
        last = max(made[p.cell.id][0] for p in chapter.cells if p.assigned == one and p.cell.id in made)
        figure = instructor.cells[place - 1].id.endswith("-caption")
        assert place == last + (2 if figure else 1)
    assert order == sorted(order)


def test_totals_come_first(chapter, instructor):
    head = instructor.cells[1].source
    notes = [one.exercise.notes for one in chapter.assigned]
    assert f"{sum(note.points for note in notes)} points" in head
    assert f"{sum(note.minutes for note in notes)} minutes" in head
    for one in chapter.assigned:
        assert f"| {one.number} | {one.exercise.title} | `{one.exercise.id}` |" in head
    assert "not for students" in head


def test_each_solution_is_under_the_number_of_its_exercise(chapter, instructor):
    text = "\n".join(cell.source for cell in instructor.cells if cell.cell_type == "markdown")
    for one in chapter.assigned:
        assert text.count(f"#### Solution of exercise {one.number}\n") == 1
        assert f"### Exercise {one.number}. {one.exercise.title}" in text
