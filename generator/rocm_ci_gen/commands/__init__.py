"""One module a subcommand of `rocm-ci-gen`; each exposes `command`. The work is done in the packages."""
