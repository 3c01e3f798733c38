"""The part of the metadata that is computed; setup.cfg has the rest."""

import os
import sys

from setuptools import setup

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# Equal sources give equal wheels: the files of an archive have this time, 2020-01-01, unless the caller sets another.
os.environ.setdefault("SOURCE_DATE_EPOCH", "1577836800")
# The archive has the modes of its files, which must not depend on the user's umask.
os.umask(0o022)

from hack.plain_links import long_description  # noqa: E402

setup(long_description=long_description(), long_description_content_type="text/markdown")
