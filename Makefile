# make book, make test: everything else hangs on these two.
SHELL  := /bin/bash
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
PIP    := $(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt
PORT   ?= 8000

.PHONY: help book serve pdf test notebooks bench clean
.DEFAULT_GOAL := help
.SUFFIXES:

help:
	@sed -n 's/^## //p' Makefile

## make book        environment, package and the rendered book in _build/html
book: $(VENV)/book.installed
	@rm -rf _build/html _build/.doctrees
	$(VENV)/bin/jupyter-book build . -W -n --keep-going
	@echo "The book is in _build/html: open _build/html/index.html, or 'make serve'."

## make serve       the rendered book on http://localhost:8000 (PORT=...)
serve:
	@test -f _build/html/index.html || { echo "nothing to serve yet: run 'make book' first"; exit 1; }
	$(PYTHON) -m http.server --directory _build/html --bind 127.0.0.1 $(PORT)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python >= 3.11 is needed; '$(PYTHON)' is older. Try: make book PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/book.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e '.[book]'
	@touch $@

$(VENV)/test.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e '.[test]'
	@touch $@ $(VENV)/book.installed
