"""Parts and sums that compile quickly are those of PyTensor, bit by bit, and take their place in every model."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.mode import Mode
from pytensor.tensor.basic import Split
from pytensor.tensor.shape import SpecifyShape

from bayes_bias.models.matrix_products import NUMBA
from bayes_bias.models.parts_and_sums import Part, SumOfAll, SumOver

PYTHON = Mode(linker="py", optimizer=None)
NUMBERS = np.random.default_rng(1).normal(size=(4, 5)) * 10.0 ** np.arange(-2, 3)


@pytest.fixture(autouse=True)
def in_order():
    """As models are compiled: no sum is reordered."""
    with pytensor.config.change_flags(numba__fastmath=False):
        yield


def operations(of: pytensor.compile.Function) -> list[type]:
    return [type(node.op) for node in of.maker.fgraph.toposort()]


@pytest.mark.parametrize("mode", [NUMBA, PYTHON], ids=["compiled", "in Python"])
@pytest.mark.parametrize("numbers", [NUMBERS, NUMBERS.T, NUMBERS[:, 1:4]], ids=["rows", "columns", "a view"])
def test_they_are_those_of_numpy_taken_one_after_the_other(mode, numbers):
    matrix = pt.dmatrix()
    asked = [Part()(matrix, 1, 3), SumOver(0)(matrix), SumOver(1)(matrix), SumOfAll()(matrix)]
    part, over_rows, over_columns, whole = pytensor.function([matrix], asked, mode=mode)(numbers)
    assert np.array_equal(part, numbers[:, 1:3])
    assert np.array_equal(over_rows, np.add.accumulate(numbers, axis=0)[-1])
    assert np.array_equal(over_columns, np.add.accumulate(numbers, axis=1)[:, -1])
    assert whole == np.add.accumulate(numbers.ravel(order="K"))[-1]


def test_they_take_the_place_of_splits_sums_and_vectors_of_known_length():
    point, matrix, start = pt.dvector(), pt.dmatrix(), pt.lscalar()
    first, second = pt.split(matrix, [2, 3], axis=1)
    pieces = [pt.specify_shape(point[:2], (2,)), pt.specify_shape(point[2:5], (3,))]
    asked = [first, second, matrix.sum(axis=1), *pieces, matrix.sum()]
    made = pytensor.function([point, matrix], asked, mode=NUMBA)
    assert set(operations(made)) == {Part, SumOver, SumOfAll}
    found = made(np.arange(5.0), NUMBERS)
    over_columns, of_all = np.add.accumulate(NUMBERS, axis=1)[:, -1], np.add.accumulate(NUMBERS.ravel())[-1]
    expected = [NUMBERS[:, :2], NUMBERS[:, 2:], over_columns, [0, 1], [2, 3, 4], of_all]
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))
    # Other axes, an end that only data know, and sums of vectors remain as they are.
    over_rows, _ = pt.split(matrix, [1, 3], axis=0)
    unknown = pt.specify_shape(point[start : start + 2], (2,))
    steps, whole = pt.specify_shape(point[0:4:2], (2,)), pt.specify_shape(point, (5,))
    asked = [over_rows, unknown, steps, whole, point.sum(), pt.exp(matrix).sum()]
    kept = pytensor.function([point, matrix, start], asked, mode=NUMBA)
    assert {Split, SpecifyShape} < set(operations(kept))
    assert not {Part, SumOver, SumOfAll} & set(operations(kept))


@pytest.mark.parametrize("mode", [NUMBA, PYTHON], ids=["compiled", "in Python"])
def test_a_part_beyond_its_array_is_refused(mode):
    vector = pt.dvector()
    part = pytensor.function([vector], Part()(vector, 1, 6), mode=mode)
    with pytest.raises(ValueError, match="beyond"):
        part(np.arange(5.0))
