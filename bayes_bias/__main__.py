"""`python -m bayes_bias` is `bayes-bias`."""

from bayes_bias.cli import main

if __name__ == "__main__":
    main()
