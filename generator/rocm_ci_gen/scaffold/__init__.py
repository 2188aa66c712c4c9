"""From a repository to a first manifest and the files around it.

In: a `Tree` (`tree.read_tree` makes one from a folder). `detect.detect(tree)` looks, `propose.propose(facts,
answers)` decides and gives a reason for every choice, `manifest_text.manifest_text(proposal)` writes. Out: text.
Only `repository` and `tree` touch git and files; what is written is `rocm_ci_gen.files`' business.
"""
