"""Admission policies: checks and changes of writes, written in CEL. Mirrors apiserver's pkg/admission/plugin/policy.

policy      one policy, compiled, and the evaluation of its expressions
params      the objects that a binding gives to a policy as its parameters
finding     which policies and bindings are about a write
validating  ValidatingAdmissionPolicy
mutating    MutatingAdmissionPolicy
chain       all of it and the webhooks, as the verbs see them
"""
