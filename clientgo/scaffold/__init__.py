"""Projects from nothing: `init`, `create api`, `create webhook`, `generate`, in the words of kubebuilder.

    python -m clientgo.scaffold init --domain example.com --repo shop_operator
    python -m clientgo.scaffold create api --group shop --version v1 --kind Order
    python -m clientgo.scaffold create webhook --group shop --version v1 --kind Order --defaulting
    python -m clientgo.scaffold generate

A project runs, and its tests pass, after each of these. What a user wrote is never overwritten: files are added, and
lines at the marks `# +kubebuilder:scaffold:...`. A command is done in full or not at all.

Stands for kubebuilder and operator-sdk, of which no file is mirrored. Differs: `--repo` is a Python package; groups
have folders of their own from the start (kubebuilder's multigroup); manifests need no kustomize; what `make` does
there, `generate` does.
"""
