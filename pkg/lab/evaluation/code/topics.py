"""Sort tasks into ten topics by the words of their texts, and project them on a map (P-34, P-35, A-19).

The paper had a model name the topics, and seven of its ten names are legible; this list is our own, and the same text
always has the same topic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pkg.lab.evaluation.code.benchmarks import Item, TaskFacts

OTHER_TOPIC = "Lists and sequences"
"""Topic of a task whose words point to no other: most of these process a list."""

_STEMS: Mapping[str, str] = {
    "Patterns and regular expressions": "regex*7 regular*2 pattern*3 match*2 email*4 url*4",
    "Strings and text": (
        "string*2 char*2 word*2 letter*2 vowel*3 text*2 lowercase*2 uppercase*2 palindrom*1 substring*3 sentence*3"
        " whitespace*3 space*2 prefix*2 suffix*2 bracket*2 parenthes*2 alphabet*2 anagram*3 consonant*3 capital*2"
    ),
    "Numbers and number theory": (
        "prime*4 divis*3 factor*2 gcd*4 lcm*4 digit*3 fibonacci*4 multiple*1 odd*2 even*2 modul*3 power*2 perfect*2"
        " nth*2 series*2 triangular*2 hexagonal*3 octagonal*3 polygonal*3 natural*2 catalan*4 lucas*4 woodall*4"
        " bell*2 term*2 progression*3 square*1 cube*1 number*1 integer*1 demlo*3 amicable*4 undulat*3 remainder*3"
        " quotient*3 sum*1 multipl*1"
    ),
    "Geometry and measures": (
        "area*4 volume*4 perimeter*5 circumference*5 triangle*3 circle*4 sphere*4 cone*4 cylinder*4 cuboid*4"
        " rectang*3 rhombus*5 angle*3 radius*4 diameter*4 polygon*3 surface*4 coordinate*3 slope*4 hypotenuse*5"
        " pentagon*5 tetrahedron*5 prism*5 trapez*5 parallelogram*5 lateral*3 degree*2 radian*4 vertex*3 parabola*4"
    ),
    "Conversion and dates": (
        "convert*4 binary*2 decimal*3 hexadecimal*4 octal*3 roman*5 format*2 ascii*3 encod*3 decod*3 encrypt*4"
        " snake*4 camel*4 date*4 month*4 day*3 year*3 time*2 hour*3 minute*3 second*0 celsius*4 fahrenheit*4"
        " complex*2 json*4 equivalent*1 represent*1"
    ),
    "Bits and logic": (
        "bit*4 bitwise*6 xor*4 toggle*4 boolean*3 condition*2 operand*2 toggled*4 parity*4 operator*2 valid*1"
        " opposite*3 whether*1 true*1 false*1"
    ),
    "Sorting and searching": (
        "sort*4 search*4 heap*4 quick*2 shell*3 bubble*4 merge*3 median*3 order*2 ascending*3 descending*3 rank*3"
        " smallest*1 largest*1 kth*2 insertion*3 binary-search*4 inversion*3 missing*2"
    ),
    "Optimisation and counting of ways": (
        "maximum*2 minimum*2 max*2 min*2 longest*3 shortest*3 cost*4 path*4 ways*5 subsequence*4 coin*4 jump*4"
        " knapsack*5 subarray*3 contiguous*3 dynamic*4 optimal*4 profit*4 fewest*4 least*2 increasing*2 chain*3"
        " permutation*3 combination*3 possible*1 grid*2 partition*3 highest*1"
    ),
    "Tuples, dictionaries and nested data": (
        "tuple*3 dictionar*4 dict*4 nested*3 matrix*4 matrices*4 sublist*3 tree*4 linked*4 queue*4 stack*3 key*2"
        " record*2 set*2 column*3 row*3 node*4 json*2 lambda*1 pair*1"
    ),
    OTHER_TOPIC: (
        "list*2 array*2 element*2 sequence*2 index*2 rotat*2 append*2 remove*1 common*1 duplicate*3 frequenc*2"
        " occur*1 reverse*1 interleav*3 filter*2 adjacent*1 consecutive*2 unique*2 count*1 intersect*2 split*1"
    ),
}
"""Stems with their weights by topic, set by hand so that specific words outweigh those of all tasks.

Topics serve to compare counts; no result depends on them.
"""

TOPICS = tuple(_STEMS)
"""The ten topics, in the order of tables; the first wins ties."""

_SHOWN = re.compile(r"^\s*(>>>|assert\b|from\b|import\b).*$", re.MULTILINE)
_WORDS = re.compile(r"[A-Z]?[a-z]+")
DIGITS = 3  # of a place: the last digits of a decomposition depend on the machine


def find_topic(item: Item) -> str:
    """Return the topic of a task by the stems of its text and its name, without examples and values."""
    text = f"{item.entry} {_SHOWN.sub('', item.query)}"
    words = {word.lower() for word in _WORDS.findall(text)}
    strength = dict.fromkeys(TOPICS, 0)
    for topic, weight in (found for word in words for found in _weigh(word)):
        strength[topic] += weight
    best = max(strength.values())
    return next(topic for topic in TOPICS if strength[topic] == best) if best else OTHER_TOPIC


@lru_cache(maxsize=10_000)
def _weigh(word: str) -> tuple[tuple[str, int], ...]:
    """Return the topics with a stem that the word begins with, and the weight of the longest one."""
    found = []
    for topic, stems in _list_stems().items():
        begun = [stem for stem in stems if word.startswith(stem)]
        if begun:
            found.append((topic, stems[max(begun, key=len)]))
    return tuple(found)


@lru_cache(maxsize=1)
def _list_stems() -> dict[str, dict[str, int]]:
    pairs = {topic: (each.split("*") for each in text.split()) for topic, text in _STEMS.items()}
    return {topic: {stem: int(weight) for stem, weight in stems} for topic, stems in pairs.items()}


def describe_tasks(items: Sequence[Item]) -> list[TaskFacts]:
    """Return the topic of each task, and its place by PCA of the questions with the default encoder."""
    from pkg.encode.static import StaticEncoder  # here, because reports need the names of the topics alone

    encoder = StaticEncoder()
    places = project(np.stack([encoder.encode_query(item.query) for item in items]))
    return [
        TaskFacts(item.id, find_topic(item), (float(x), float(y))) for item, (x, y) in zip(items, places, strict=True)
    ]


def project(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Project vectors (float32 [n, dimension]) on their first two principal components: float64 [n, 2].

    The entry of largest magnitude of each component is positive, so that the signs are deterministic.
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    first = np.zeros((2, vectors.shape[1]))
    first[: len(directions[:2])] = directions[:2]
    signs = np.sign(first[np.arange(2), np.abs(first).argmax(axis=1)])
    places: npt.NDArray[np.float64] = np.round(centred @ (first.T * signs), DIGITS) + 0.0  # no -0
    return places
