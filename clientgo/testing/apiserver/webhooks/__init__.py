"""Admission webhooks, which are called before a write is stored. Mirrors apiserver's pkg/admission/plugin/webhook.

attributes  what is asked about
matching    which webhooks want to be asked
reviews     one question and its answer
mutating    the webhooks that may change the object, one after the other
validating  the webhooks that may only refuse it, all at once
chain       all of it, as the verbs see it
"""
