"""`python -m rocm_ci` is `rocm-ci`."""

from rocm_ci.cli import main

main()
