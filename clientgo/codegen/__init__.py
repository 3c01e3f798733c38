"""The code generators: clients, informers, listers and CustomResourceDefinitions of API types; roles and webhooks.

    python -m clientgo.codegen --root ~/shop --output shop.generated --crds ~/shop/crds shop.apis.shop.v1

Stands for k8s.io/code-generator, and for controller-gen. Roles and webhook configurations come from markers in
comments (rbac.py, webhooks.py); `python -m clientgo.scaffold generate` writes them for a project.

The built-in API types and their clients come from the same generators, by `hack/update-codegen` of a clone.
"""
