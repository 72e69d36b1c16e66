"""The filter of system calls: whole instructions, every jump within it. What it refuses is tried by a submission."""

import struct

import pytest

from fhx.course.grading.syscalls import MACHINES, refusals


@pytest.mark.parametrize("network", [True, False])
@pytest.mark.parametrize("machine", MACHINES)
def test_every_jump_leads_to_an_instruction(machine, network):
    program = list(struct.iter_unpack("=HBBI", refusals(machine, network)))
    for place, (code, yes, no, _) in enumerate(program):
        assert max(yes, no) == 0 or code & 7 == 5  # only jumps jump
        assert place + 1 + max(yes, no) < len(program) or code == 6
    assert program[-1][0] == 6  # it ends with a return


def test_an_unknown_architecture_has_no_filter():
    assert refusals("pdp11") is None
