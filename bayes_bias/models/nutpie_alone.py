"""nutpie without all of ArviZ, whose plots and Matplotlib take longer to import than nutpie itself.

nutpie asks ArviZ to put traces together; `sampling` takes them as they are.
"""

from bayes_bias.models.arviz_alone import when_asked

with when_asked("arviz"):
    import nutpie
    from nutpie.compile_pymc import CompiledPyMCModel

__all__ = ["CompiledPyMCModel", "nutpie"]
