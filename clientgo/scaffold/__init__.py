"""Operator projects from an empty folder: `init`, `create api`, `create webhook` and `generate`, as in kubebuilder.

    python -m clientgo.scaffold init --domain example.com --repo shop_operator
    python -m clientgo.scaffold create api --group shop --version v1 --kind Order
    python -m clientgo.scaffold create webhook --group shop --version v1 --kind Order --defaulting
    python -m clientgo.scaffold generate

After each command the project runs and its tests pass. A command never overwrites the user's code: it adds files, and
lines at the marks `# +kubebuilder:scaffold:...`. A command that fails changes nothing.

Takes the place of kubebuilder and operator-sdk, and mirrors none of their files. Differs: `--repo` is a Python package;
each group has its own folder from the start (kubebuilder's multigroup); manifests need no kustomize; `generate` takes
the place of `make`.
"""
