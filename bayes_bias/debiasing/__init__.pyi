"""Debiasing methods, and what they changed: the same words before and after."""

from .damage import Damage as Damage
from .damage import RatedPairs as RatedPairs
from .damage import damage as damage
from .debias_conceptor import Conceptor as Conceptor
from .debias_double_hard import DoubleHardDebias as DoubleHardDebias
from .debias_half_sibling import HalfSiblingRegression as HalfSiblingRegression
from .debias_hard import HardDebias as HardDebias
from .debias_inlp import INLP as INLP
from .debias_leace import LEACE as LEACE
from .debias_linear_projection import LinearProjection as LinearProjection
from .debias_oscar import OSCaR as OSCaR
from .debias_partial_projection import PartialProjection as PartialProjection
from .debias_ran import RAN as RAN
from .debias_soft import SoftDebias as SoftDebias
from .debiased_embedding import Debiasing as Debiasing
from .debiased_embedding import GivenVersion as GivenVersion
from .debiased_embedding import Version as Version
from .debiaser import Debiaser as Debiaser
from .debiaser import debiaser as debiaser
from .debiaser import debiaser_names as debiaser_names
from .debiaser import make_debiaser as make_debiaser
