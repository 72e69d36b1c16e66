"""The checker of annotated shapes: an int is a float, as it is for a type checker."""

from beartype import BeartypeConf, beartype

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
