"""Where torch is installed, it is imported when a model is opened."""

import subprocess
import sys


def test_importing_model_modules_omits_torch_and_transformers():
    models = (f"bayes_bias.language_models.{module}" for module in ("hugging_face", "likelihoods"))
    modules = (*models, "bayes_bias.analyses.sentence_pairs.scoring", "studies.known_bias.running")
    code = "".join(f"import {module}\n" for module in modules)
    code += "import sys; sys.exit(any(name in sys.modules for name in ('torch', 'transformers')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
