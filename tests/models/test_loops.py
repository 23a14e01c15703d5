"""Code that PyTensor keeps on disk is told from code that has changed since."""

from bayes_bias.models.density_loops import version_of


def test_another_code_has_another_version():
    def once(x):
        return x + 1

    def twice(x):
        return x + 2

    assert version_of(once) == version_of(once)
    assert version_of(once) != version_of(twice)
