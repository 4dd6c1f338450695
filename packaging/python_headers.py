"""The headers of the interpreter that runs this, in one folder: Debian keeps the part that depends on the processor elsewhere. It is the same for all with 64 bits.   python_headers.py FOLDER"""

import pathlib
import shutil
import sys
import sysconfig

target = pathlib.Path(sys.argv[1])
shutil.rmtree(target, ignore_errors=True)
shutil.copytree(sysconfig.get_path("include"), target)
common = pathlib.Path(sysconfig.get_config_h_filename())
own = (
    common.parent.parent
    / (sysconfig.get_config_var("MULTIARCH") or "")
    / common.parent.name
    / common.name
)
shutil.copy(own if own.exists() else common, target / "pyconfig.h")
