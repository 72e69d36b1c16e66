# `make book` and `make test` are the two commands; the rest serves those who write, `make check` first of all.
SHELL  := /bin/bash
PYTHON ?= python3
PY     := .venv/bin/python
CONSTRAINTS ?= -c constraints.txt
# A module is compiled when it is first imported: most of those that are installed never are.
PIP    := $(PY) -m pip install --quiet --no-compile --disable-pip-version-check $(CONSTRAINTS)
# TORCH=cpu: PyTorch's build without CUDA, a fifth of the size; uv knows where it is published.
TORCH  ?=
torch  = $(if $(TORCH),$(PIP) uv && .venv/bin/uv pip install --quiet --python $(PY) --torch-backend $(TORCH) $(CONSTRAINTS) torch)
TESTS  := TQDM_DISABLE=1 OMP_NUM_THREADS=1 $(PY) -m pytest --durations=30
NBVAL  := TQDM_DISABLE=1 OMP_NUM_THREADS=1 PYTHONPATH=tests/notebooks $(PY) -m pytest -p recorder @tests/notebooks/nbval.args notebooks
N      ?=
ROOM   ?=
SAMPLE ?= 150
# The book is built as a whole, on an empty folder, and is the same until one of its sources, or of these settings, changes.
SOURCES := _config.yml _toc.yml pyproject.toml constraints.txt $(shell find book notebooks results src tests -type f \
  ! -path '*/tools/*' ! -path '*/__pycache__/*' ! -path '*/.*' ! -path '*.egg-info/*')
BUILT  := _build/html/.built$(SOLUTIONS)$(FHX_PDF)
# A folder of data files beside the clone is used where there is one; else the files are downloaded.
ifndef FHX_DATA
ifneq ($(wildcard ../shared/data),)
export FHX_DATA := $(abspath ../shared/data)
endif
endif
# Many processes import the package: they start sooner where its bytecode is kept.
export PYTHONDONTWRITEBYTECODE :=
PORT   ?= 8000

.PHONY: help book page serve pdf paper check rooms lint test nbval times notebooks course bench outsider mutants clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^## //p' Makefile

## make book             environment, package, and the rendered book in _build/html (SOLUTIONS=0: without the solutions;
##                       TORCH=cpu: PyTorch without CUDA, on Linux a fifth of the download)
book: $(BUILT)
	@echo; echo "The book: _build/html/index.html (open it in a browser, or 'make serve')."

$(BUILT): $(SOURCES) | .venv/book.installed
	rm -rf _build/html _build/.doctrees
	.venv/bin/jupyter-book build . -W -n --keep-going
	@touch $@

## make page N=05        one chapter again, in seconds, in the book that 'make book' has left
page: .venv/book.installed
	@$(PY) book/tools/page.py "$(N)"

## make serve            the rendered book on http://localhost:8000 (PORT=...)
serve:
	@test -f _build/html/index.html || { echo "nothing to serve yet: run 'make book' first"; exit 1; }
	$(PYTHON) -m http.server --directory _build/html --bind 127.0.0.1 $(PORT)

## make pdf              the whole book as one file, _build/html/recurrence.pdf
pdf: export FHX_PDF := 1
pdf: chromium
	@$(MAKE) --no-print-directory book
	$(PY) book/tools/pdf.py _build/html _build/html/recurrence.pdf

## make check            before each commit: lint, types, and all tests but those of the book, in a browser or in a kernel
check: .venv/test.installed
	@$(MAKE) --no-print-directory -j2 lint rooms

rooms: .venv/test.installed
	$(TESTS) tests -n 2 --dist worksteal -m 'not full and not slow and not alone'

## make test             everything that CI checks
test:
	@$(MAKE) --no-print-directory --output-sync -j2 .venv/book.installed chromium-then-bubblewrap
	@$(MAKE) --no-print-directory --output-sync -j2 book-then-notebooks lint-then-grader
	$(TESTS) tests $(FIRST:%=--ignore %) -n 2 --dist worksteal  # a third browser slows down the two that two cores can run

# Two lanes, a core each, about as long as each other; FIRST, rooms that need no book, makes them so. The book is built
# while what the tests need is installed.
FIRST := tests/exercises tests/compile
.PHONY: book-then-notebooks lint-then-grader
book-then-notebooks: book .venv/test.installed
	$(NBVAL) -n 1
lint-then-grader: lint
	$(TESTS) tests/course -m alone -rs
	$(TESTS) $(FIRST)

lint: .venv/test.installed
	.venv/bin/ruff check --no-cache .
	.venv/bin/codespell $$(git ls-files)
	.venv/bin/mypy

## make nbval            every notebook against its stored outputs (FHX_DEVICE=cuda: on a GPU)
nbval: .venv/test.installed
	$(NBVAL)

## make times            keeps what the last 'make nbval' took for the page of run times
times:
	@$(PY) book/tools/run_record.py

## make notebooks        runs every notebook again and stores its outputs (N=03: that one)
notebooks: .venv/book.installed
	$(PY) book/tools/notebooks.py run $(if $(N),--only $(N))

## make course           runs every student version from top to bottom, and grades a class; CI runs two quick chapters
course: .venv/test.installed bubblewrap
	TQDM_DISABLE=1 OMP_NUM_THREADS=1 $(PY) -m pytest tests/course/test_students_run.py -m slow -n 2
	TQDM_DISABLE=1 OMP_NUM_THREADS=1 $(PY) -m pytest tests/course/grading -m slow -rs

## make paper            is the whole book printed as it should be? CI prints some pages of each kind
paper: .venv/test.installed chromium book
	TQDM_DISABLE=1 $(PY) -m pytest tests/book/test_pdf.py -m slow

## make bench            ours against the alternative, timed side by side, and the grid of parallel evaluation; results/
bench: .venv/test.installed
	OMP_NUM_THREADS=1 $(PY) -m benchmarks.grid
	OMP_NUM_THREADS=1 $(PY) -m benchmarks

## make outsider         the package in empty environments, with the lowest, pinned and newest versions; ARGS='--python 3.12'
outsider: .venv/test.installed
	$(PIP) uv
	@$(PY) tests/outsider.py $(ARGS)

## make mutants          do the tests notice small changes in the code? some hours; ROOM=machines: that one; results/mutants.json
mutants: .venv/test.installed
	$(PIP) -e '.[mutants]'
	$(PY) tests/mutants.py $(ROOM) --sample $(SAMPLE)

## make clean            removes what was built, keeps the environment
clean:
	rm -rf _build

apt = if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; \
  then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y $(1) >/dev/null; \
  elif command -v apt-get >/dev/null && sudo -n true 2>/dev/null; \
  then sudo apt-get update -qq && sudo DEBIAN_FRONTEND=noninteractive apt-get install -qq -y $(1) >/dev/null; \
  else false; fi

.PHONY: chromium bubblewrap chromium-then-bubblewrap
chromium-then-bubblewrap: chromium  # apt works for one at a time
	@$(MAKE) --no-print-directory bubblewrap
chromium:
	@command -v chromium chromium-browser google-chrome >/dev/null || { $(call apt,chromium); } || { \
	  echo "A Chromium is needed for the browser tests and the PDF: install Debian's package 'chromium', or Google Chrome, and run again."; exit 1; }

bubblewrap:
	@command -v bwrap >/dev/null || { $(call apt,bubblewrap); } || \
	  echo "There is no bubblewrap: the tests that run students' code in a sandbox are skipped."

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 5))' || { echo "Python 3.11.5 or newer is needed and '$(PYTHON)' is older. With another one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv .venv

.venv/book.installed: pyproject.toml constraints.txt | .venv/bin/python
	$(torch)
	$(PIP) -e '.[book]'
	@touch $@

# The package is there by then and is not touched.
.venv/test.installed: .venv/book.installed
	$(PIP) 'fhx[test]'
	@touch $@
