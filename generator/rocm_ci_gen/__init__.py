"""Renders the workflow from the manifest, scaffolds a repository, and says which jobs run and why."""
