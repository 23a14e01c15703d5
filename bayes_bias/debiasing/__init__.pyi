"""Debiasing methods, and what they changed: the same words before and after."""

from .comparison import Comparison as Comparison
from .comparison import ShareRemoved as ShareRemoved
from .debias_hard import HardDebias as HardDebias
from .debiased_embedding import Debiasing as Debiasing
from .debiaser import Debiaser as Debiaser
from .debiaser import debiaser as debiaser
from .debiaser import debiaser_names as debiaser_names
from .debiaser import make_debiaser as make_debiaser
from .version import GivenVersion as GivenVersion
from .version import Version as Version
