"""`python -m boardreadyops`."""

import sys

from boardreadyops.cli.main import main

sys.exit(main())
