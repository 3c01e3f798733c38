"""Lists in pages. Mirrors k8s.io/client-go/tools/pager."""

from clientgo.tools.pager.pager import ListPageFunc, ListPager, RepeatedPageError, new, simple_page_func

__all__ = ["ListPageFunc", "ListPager", "RepeatedPageError", "new", "simple_page_func"]
