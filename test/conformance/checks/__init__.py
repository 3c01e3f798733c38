"""The conformance checks, one module for each subject. Importing a module adds its checks to the list, in order."""
