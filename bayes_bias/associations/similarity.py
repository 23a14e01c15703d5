"""Similarities by name: each is registered where it is defined."""

from bayes_bias.arguments import import_modules
from bayes_bias.errors import TableError, did_you_mean
from bayes_bias.table.similarity import Similarity

# Installed packages name modules with similarities of their own under this group.
ENTRY_POINTS = "bayes_bias.similarities"

SIMILARITIES: dict[str, Similarity] = {}


def register(similarity: Similarity) -> Similarity:
    """Make a similarity known by its name, to functions, sweep files and the command line.

    Raises
    ------
    TableError
        Another similarity has the name.
    """
    namesake = SIMILARITIES.get(similarity.name)
    if namesake is not None and namesake.between.__module__ != similarity.between.__module__:
        raise TableError(
            f"similarity: '{similarity.name}' is taken by {namesake.between.__module__}; give it another name"
        )
    SIMILARITIES[similarity.name] = similarity
    return similarity


def similarity_names() -> list[str]:
    """Names of all similarities: those of the files ``similarity_....py`` here, and of installed packages.

    A package adds its own by an entry point of the group ``bayes_bias.similarities``: a module that uses `register`.
    """
    import_modules("bayes_bias.associations", "similarity_", ENTRY_POINTS, TableError)
    return sorted(SIMILARITIES)


def similarity_of(name: str | Similarity) -> Similarity:
    """The similarity of a name; one that is given itself is returned.

    Raises
    ------
    TableError
        The name is unknown.
    """
    if isinstance(name, Similarity):
        return name
    names = similarity_names()
    if name not in names:
        raise TableError(f"similarity: '{name}' is not known; {did_you_mean(str(name), names)}")
    return SIMILARITIES[name]
