"""The part of applyconfigurations/meta that is not in `clientgo.apimachinery.apis.meta`."""
