"""The version of this checkout; a checkout behind `uses:` is not installed, so no package metadata can be asked."""

VERSION = "0.1.0"
