"""The grader inside of Gradescope: an archive that it makes a container from, and what runs in there."""
