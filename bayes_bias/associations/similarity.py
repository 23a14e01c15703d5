"""Registry of similarities, with the cosine and the dot product. Each module `similarity_...` registers another."""

from bayes_bias.arguments import import_modules
from bayes_bias.errors import TableError
from bayes_bias.table.metric import COSINE, Metric
from bayes_bias.table.similarity import Rows, Similarity

# Group of entry points by which installed packages name their modules with similarities.
ENTRY_POINTS = "bayes_bias.similarities"

SIMILARITIES: dict[str, Similarity] = {}


def register(similarity: Similarity) -> Similarity:
    """Register a similarity, so that functions, sweep files, and the command line accept its name.

    Raises
    ------
    TableError
        If another similarity has the same name.
    """
    namesake = SIMILARITIES.get(similarity.name)
    if namesake is not None and namesake.between.__module__ != similarity.between.__module__:
        raise TableError(
            f"The name '{similarity.name}' of a similarity is already used by {namesake.between.__module__}. Choose"
            " another name."
        )
    SIMILARITIES[similarity.name] = similarity
    return similarity


def similarity_names() -> list[str]:
    """Return the names of all similarities, from the modules ``similarity_...`` here and from installed packages.

    A package can add its own with an entry point of the group ``bayes_bias.similarities``, to a module that uses
    `register`.
    """
    import_modules("bayes_bias.associations", "similarity_", ENTRY_POINTS, TableError)
    return sorted(SIMILARITIES)


def similarity_of(name: str | Similarity) -> Similarity:
    """Return the similarity with a name. A `Similarity` is returned unchanged.

    Raises
    ------
    TableError
        If the name is unknown.
    """
    if isinstance(name, Similarity):
        return name
    names = similarity_names()
    if name not in names:
        raise TableError(f"There is no `similarity` '{name}'.", name, names)
    return SIMILARITIES[name]


def _between(targets: Rows, attributes: Rows) -> Rows:
    return targets @ attributes.T


COSINES = register(Similarity("cosine", COSINE, _between, unit=True, product=True))


DOT_PRODUCT = Metric("dot product", unit="dot product", zero="the vectors are orthogonal")


DOT_PRODUCTS = register(Similarity("dot", DOT_PRODUCT, _between, product=True))
