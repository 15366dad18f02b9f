"""Print what installed distributions require here: ``wheel_requirements.py NAME... --without NAME...``"""

import argparse
from importlib.metadata import requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("names", nargs="+")
parser.add_argument("--without", nargs="*", default=[])
args = parser.parse_args()

unwanted = {canonicalize_name(name) for name in args.without}
for name in args.names:
    for line in requires(name) or []:
        requirement = Requirement(line)
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and canonicalize_name(requirement.name) not in unwanted:
            requirement.marker = None
            print(requirement)
